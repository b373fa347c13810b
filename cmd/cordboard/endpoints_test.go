package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// endpoint serves the script on a loopback address, which it puts into a variable: endpoint VARIABLE redirect|hang|loop
//
// redirect sends whoever posts elsewhere, hang never answers, loop is a model that calls a tool whatever it is told.
func endpoint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: endpoint VARIABLE redirect|hang|loop")
	}
	answer := map[string]http.HandlerFunc{"redirect": redirect, "hang": hang, "loop": loop}[args[1]]
	if answer == nil {
		ts.Fatalf("no endpoint is called %s", args[1])
	}
	server := httptest.NewServer(answer)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ts.Setenv(args[0], server.URL)
}

func redirect(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/elsewhere" {
		return // it is taken here, where it must not come
	}
	http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
}

func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // the end of the connection shows once the body is read
	<-r.Context().Done()
}

func loop(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, strings.Join([]string{
		`data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c","type":"function",` +
			`"function":{"name":"sessions_list","arguments":"{}"}}]}}]}`,
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "data: [DONE]", "",
	}, "\n\n"))
}
