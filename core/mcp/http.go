package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	idleSession    = 30 * time.Minute // after which a client that went away without a word is forgotten
	maxRequestBody = 25 << 20         // as on the socket
)

// HTTPHandler serves clients over streamable HTTP. A client shows the token as `Authorization: Bearer TOKEN`; requests of web pages, and
// those that reach a loopback address under another name, are refused. The token must not be blank.
func HTTPHandler(s *mcp.Server, token string) http.Handler {
	served := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		SessionTimeout: idleSession, MaxRequestBodyBytes: maxRequestBody,
	})
	return http.NewCrossOriginProtection().Handler(authorised(served, token))
}

// authorised compares digests, so that the time it takes tells nothing of the token, its length included.
func authorised(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(shown))
		if !ok || token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "show the token of this server: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
