package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// broker hands every posted text to every listener at once. A test that posts the second event only after it has
// seen the first one proves that nothing between the two holds bytes back.
type broker struct {
	mu        sync.Mutex
	listeners map[chan string]struct{}
	closed    chan struct{}
	once      sync.Once
}

func newBroker() *broker {
	return &broker{listeners: map[chan string]struct{}{}, closed: make(chan struct{})}
}

func (b *broker) close() { b.once.Do(func() { close(b.closed) }) }

func (b *broker) serve(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		b.stream(w, r)
	case http.MethodPost:
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		if err != nil || strings.ContainsAny(string(text), "\r\n") {
			http.Error(w, "one line of text, at most 64 KiB", http.StatusBadRequest)
			return
		}
		b.mu.Lock()
		for listener := range b.listeners {
			select {
			case listener <- string(text):
			default: // a listener that does not read loses events, as in any such service
			}
		}
		reached := len(b.listeners)
		b.mu.Unlock()
		writeJSON(w, http.StatusOK, map[string]int{"listeners": reached})
	default:
		notAllowed(w, http.MethodGet, http.MethodPost)
	}
}

// stream sends events until the client leaves, or until one says "bye".
func (b *broker) stream(w http.ResponseWriter, r *http.Request) {
	flusher, ok := w.(http.Flusher)
	if !ok {
		http.Error(w, "cannot stream", http.StatusInternalServerError)
		return
	}
	renders.Add(1)
	mine := make(chan string, 64)
	b.mu.Lock()
	b.listeners[mine] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.listeners, mine)
		b.mu.Unlock()
	}()

	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": listening\n\n")
	flusher.Flush()
	for {
		select {
		case text := <-mine:
			fmt.Fprintf(w, "data: %s\n\n", text)
			flusher.Flush()
			if text == "bye" {
				return
			}
		case <-r.Context().Done():
			return
		case <-b.closed:
			return
		}
	}
}
