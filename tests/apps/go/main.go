// A real Go API of the kind étagère stands in front of: net/http as it comes, so no ETag and no Cache-Control.
//
//	/items?page=N        1,000 items, about 140 KB of JSON
//	/items/{id}          one item; PUT {"name": …, "price_cents": …} changes it
//	/file                a document through http.ServeContent, with the tag of its version; PUT /file?v=N makes it N
//	/slow                30 ms of CPU, then a small answer
//	/events              server-sent events: what is posted to /events goes to every listener at once
//	/shop?page=N&etag=F  consumes another API at PRODUCTS_URL; see shop.go
//	/renders             how many answers were really made
//	/up                  health
//
// Environment: LISTEN (127.0.0.1:0), PRODUCTS_URL (base of the API that /shop asks).
// The first line on standard output is the address: `listening on http://127.0.0.1:PORT`. With the argument
// `healthcheck` it asks /up of the one that listens at LISTEN, for images without a shell.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// renders counts answers that were made, health and the counter itself excepted.
var renders atomic.Int64

func main() {
	address := os.Getenv("LISTEN")
	if address == "" {
		address = "127.0.0.1:0"
	}
	if len(os.Args) == 2 && os.Args[1] == "healthcheck" {
		os.Exit(healthcheck(address))
	}

	items := newCatalogue()
	events := newBroker()
	mux := http.NewServeMux()
	mux.HandleFunc("/items", items.list)
	mux.HandleFunc("/items/", items.one)
	mux.HandleFunc("/file", file)
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("/events", events.serve)
	mux.Handle("/shop", newShop(os.Getenv("PRODUCTS_URL")))
	mux.HandleFunc("/renders", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		writeJSON(w, http.StatusOK, map[string]int64{"renders": renders.Load()})
	})
	mux.HandleFunc("/up", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprintln(w, "up")
	})

	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())

	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	server.RegisterOnShutdown(events.close)
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	go func() {
		<-stop.Done()
		grace, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		_ = server.Shutdown(grace)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

func healthcheck(address string) int {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 2
	}
	client := http.Client{Timeout: 2 * time.Second}
	response, err := client.Get("http://" + net.JoinHostPort("127.0.0.1", port) + "/up")
	if err != nil {
		return 1
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 1
	}
	return 0
}

// slow stands for a computation: it burns CPU for 30 ms of wall time, so that what a cache saves can be seen in /proc.
func slow(w http.ResponseWriter, r *http.Request) {
	renders.Add(1)
	begin := time.Now()
	sum := sha256.Sum256([]byte(r.URL.RawQuery))
	first := sum
	for time.Since(begin) < 30*time.Millisecond {
		for i := 0; i < 100; i++ {
			sum = sha256.Sum256(sum[:])
		}
	}
	writeJSON(w, http.StatusOK, map[string]string{"of": r.URL.RawQuery, "sum": hex.EncodeToString(first[:])})
}

// file answers as net/http does for whoever sets a tag: If-None-Match is read as the list that it is.
var fileVersion atomic.Value

func file(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		fileVersion.Store(r.URL.Query().Get("v"))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	version, _ := fileVersion.Load().(string)
	w.Header().Set("ETag", strconv.Quote("v"+version))
	w.Header().Set("Cache-Control", "public")
	renders.Add(1)
	http.ServeContent(w, r, "file.txt", time.Time{}, strings.NewReader("version "+version+"\n"))
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Printf("write: %v", err)
	}
}

// pageOf reads ?page=N; anything that is not a positive number is page 1.
func pageOf(r *http.Request) int {
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || page < 1 {
		return 1
	}
	return page
}

func notAllowed(w http.ResponseWriter, allow ...string) {
	w.Header().Set("Allow", strings.Join(allow, ", "))
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
}
