package host

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cordboard/core"
	"cordboard/core/mcp"
)

// ServeMCP answers one MCP client as the board's session, on a pair of streams, until the client goes or ctx ends.
func ServeMCP(ctx context.Context, b core.Board, version string, in io.ReadCloser, out io.WriteCloser) error {
	s, err := mcp.NewServer(ctx, b, mcp.ServerOptions{Version: version})
	if err != nil {
		return err
	}
	err = s.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil // how it ends well
	}
	if err != nil {
		return core.Errorf(core.CodeInvalidParams, "the MCP client sent what is no message, and the connection ends: %w", err)
	}
	return nil
}

// ListenMCP answers MCP clients over HTTP on a listener, which it closes, until ctx ends. Each shows the token.
func ListenMCP(ctx context.Context, b core.Board, version, token string, l net.Listener) error {
	s, err := mcp.NewServer(ctx, b, mcp.ServerOptions{Version: version})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: mcp.HTTPHandler(s, token), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
	}
	_ = server.Close() // streams of clients that stay would keep it up for ever
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
