package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/ui/safe"
)

// mcpTokenEnv holds the token of `mcp --listen`: an argument could be read by everybody on this machine.
const mcpTokenEnv = "CORDBOARD_MCP_TOKEN"

func newMCP(a *app) *cobra.Command {
	var as, listen, tokenFile string
	c := &cobra.Command{
		Use:   "mcp --as KEY",
		Short: "Serve a session's tools to an MCP client",
		Long: "mcp makes an MCP client an agent of the fleet: it serves the session tools of KEY on standard input and output, or with --listen over\n" +
			"streamable HTTP. What the client may see and do is what that session may; it cannot become another one. Give it as the command of\n" +
			"an MCP server to your client:  cordboard mcp --as agent:main:main\n\n" +
			"Over HTTP a client shows a token, `Authorization: Bearer TOKEN`. It is read from --token-file or $" + mcpTokenEnv + ".",
		Example: "  cordboard mcp --as agent:main:main\n  cordboard mcp --as agent:main:main --listen 127.0.0.1:18791 --token-file token",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if strings.TrimSpace(as) == "" && a.getenv("CORDBOARD_TOKEN") == "" { // a command that plays an agent is that agent
				return &usageError{errors.New("--as names the session that the client acts as, such as --as agent:main:main")}
			}
			if listen == "" && tokenFile != "" {
				return &usageError{errors.New("--token-file is for --listen: on standard input and output there is one client, whoever started it")}
			}
			return a.reach(c, as, func(ctx context.Context, b core.Board) error {
				if listen == "" {
					a.whoAnswers(ctx, b)
					return host.ServeMCP(ctx, b, version(), io.NopCloser(a.in), nopCloser{a.out})
				}
				return a.listenMCP(ctx, b, listen, tokenFile)
			})
		},
	}
	a.addAs(c, &as)
	c.Flags().StringVar(&listen, "listen", "", "serve over HTTP on this loopback `ADDRESS`, such as 127.0.0.1:18791")
	c.Flags().StringVar(&tokenFile, "token-file", "", "`FILE` that holds the token of HTTP clients")
	return c
}

// listenMCP serves over HTTP on a loopback address: beyond this machine a token would travel in the clear.
func (a *app) listenMCP(ctx context.Context, b core.Board, address, tokenFile string) error {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return &usageError{fmt.Errorf("--listen %s: an address and a port, such as 127.0.0.1:18791", address)}
	}
	if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &usageError{fmt.Errorf("--listen %s: a loopback address, 127.0.0.1 or [::1]; reach it from elsewhere through an SSH tunnel", address)}
	}
	token, err := a.mcpToken(tokenFile)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", address, err)
	}
	a.whoAnswers(ctx, b)
	fmt.Fprintf(a.err, "serving on http://%s\n", l.Addr())
	return host.ListenMCP(ctx, b, version(), token, l)
}

func (a *app) mcpToken(file string) (string, error) {
	token, from := a.getenv(mcpTokenEnv), "$"+mcpTokenEnv
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		token, from = string(data), file
	}
	const least = 16
	if token = strings.TrimSpace(token); len(token) < least {
		return "", &usageError{fmt.Errorf("the token in %s has %d characters: --listen needs one of at least %d, in --token-file FILE or $%s", from, len(token), least, mcpTokenEnv)}
	}
	return token, nil
}

// whoAnswers tells on standard error who plays the agent that the client acts as: standard output is the client's.
func (a *app) whoAnswers(ctx context.Context, b core.Board) {
	info, err := b.Info(ctx)
	if err != nil {
		return // the client will hear of it
	}
	session := info.Actor.Session
	for _, each := range info.Agents {
		if each.ID == agentOf(session) {
			fmt.Fprintf(a.err, "acting as %s; messages to %[1]s are answered by %s\n", safe.Line(session), playedBy(each.Runtime))
		}
	}
}

// playedBy is who answers for an agent, from where an MCP client stands.
func playedBy(runtime string) string {
	switch runtime {
	case "":
		return "nobody: its agent is not configured"
	case runtimeExternal:
		return "this client"
	case "echo":
		return "the offline runtime (echo)"
	case "manual":
		return "the operator (manual)"
	}
	return "the runtime " + runtime
}

type nopCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }
