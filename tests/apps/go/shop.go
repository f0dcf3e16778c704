package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"
)

// shop is the consumer of the article: it asks the products API for a page and keeps the last answer with its tag,
// to be told 304 the next time. ?etag= says what it sends as If-None-Match:
//
//	plain      nothing
//	printed    what the article's code makes of the tag, `etag[1..-2]`: abc for "abc", and /"abc for W/"abc".
//	           Rails and Rack::Cache do not understand either, so the whole page comes each time
//	corrected  the tag as it was received
//
// The answer is the page's body; X-Products-Status and X-Products-Bytes tell what the API sent for it, and
// X-Products-Sent what was asked with.
type shop struct {
	base   string
	client *http.Client
	mu     sync.Mutex
	known  map[int]answer // by page
}

type answer struct {
	etag string
	body []byte
}

func newShop(base string) *shop {
	client := &http.Client{Timeout: 10 * time.Second}
	return &shop{base: strings.TrimSuffix(base, "/"), client: client, known: map[int]answer{}}
}

func validator(form, etag string) (string, error) {
	switch form {
	case "", "plain":
		return "", nil
	case "corrected":
		return etag, nil
	case "printed":
		if len(etag) < 2 {
			return etag, nil
		}
		return etag[1 : len(etag)-1], nil
	}
	return "", fmt.Errorf("etag=%q: plain, printed or corrected", form)
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	renders.Add(1)
	if s.base == "" {
		http.Error(w, "PRODUCTS_URL is not set", http.StatusServiceUnavailable)
		return
	}
	page := pageOf(r)
	s.mu.Lock()
	last, known := s.known[page]
	s.mu.Unlock()

	sent := ""
	if known {
		var err error
		if sent, err = validator(r.URL.Query().Get("etag"), last.etag); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	status, got, err := s.fetch(r, page, sent)
	if err != nil {
		log.Printf("products: %v", err)
		http.Error(w, "the products API does not answer", http.StatusBadGateway)
		return
	}
	received := len(got.body)
	switch {
	case status == http.StatusNotModified && known && got.etag == last.etag:
		got = last
	case status == http.StatusOK:
		s.mu.Lock()
		s.known[page] = got
		s.mu.Unlock()
	default: // a 304 for something else than what was asked with would be somebody else's body
		http.Error(w, fmt.Sprintf("the products API answered %d with tag %s", status, got.etag), http.StatusBadGateway)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Products-Status", fmt.Sprint(status))
	header.Set("X-Products-Bytes", fmt.Sprint(received))
	header.Set("X-Products-Sent", sent)
	if _, err := w.Write(got.body); err != nil {
		log.Printf("write: %v", err)
	}
}

func (s *shop) fetch(r *http.Request, page int, ifNoneMatch string) (int, answer, error) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, fmt.Sprintf("%s?page=%d", s.base, page), nil)
	if err != nil {
		return 0, answer{}, err
	}
	if ifNoneMatch != "" {
		request.Header.Set("If-None-Match", ifNoneMatch)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, answer{}, err
	}
	return response.StatusCode, answer{etag: response.Header.Get("ETag"), body: body}, nil
}
