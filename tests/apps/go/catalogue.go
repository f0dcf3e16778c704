package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	itemCount = 10_000
	perPage   = 1_000
)

type item struct {
	ID         int    `json:"id"`
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	PriceCents int    `json:"price_cents"`
	Stock      int    `json:"stock"`
	Place      string `json:"place"`
	Version    int    `json:"version"`
}

// catalogue keeps the items in memory; the same items on every machine and in every run.
type catalogue struct {
	mu    sync.RWMutex
	items []item
}

func newCatalogue() *catalogue {
	c := &catalogue{items: make([]item, itemCount)}
	for i := range c.items {
		id := i + 1
		c.items[i] = item{
			ID: id, SKU: fmt.Sprintf("IT-%06d", id), Name: fmt.Sprintf("Item %d, a useful thing", id),
			PriceCents: 100 + id*37%90_000, Stock: id * 13 % 500, Place: fmt.Sprintf("hall %c, shelf %03d", 'A'+id%6, id%400),
		}
	}
	return c
}

func (c *catalogue) list(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		notAllowed(w, http.MethodGet, http.MethodHead)
		return
	}
	renders.Add(1)
	page := pageOf(r)
	first := (page - 1) * perPage
	if first >= itemCount {
		first = itemCount
	}
	last := first + perPage
	if last > itemCount {
		last = itemCount
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	writeJSON(w, http.StatusOK, struct {
		Page  int    `json:"page"`
		Items []item `json:"items"`
	}{page, c.items[first:last]})
}

func (c *catalogue) one(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/items/"))
	if err != nil || id < 1 || id > itemCount {
		http.NotFound(w, r)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		renders.Add(1)
		c.mu.RLock()
		found := c.items[id-1]
		c.mu.RUnlock()
		writeJSON(w, http.StatusOK, found)
	case http.MethodPut:
		c.mu.Lock()
		changed := c.items[id-1]
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&changed)
		if err == nil {
			changed.ID = id
			changed.Version++
			c.items[id-1] = changed
		}
		c.mu.Unlock()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		writeJSON(w, http.StatusOK, changed)
	default:
		notAllowed(w, http.MethodGet, http.MethodHead, http.MethodPut)
	}
}
