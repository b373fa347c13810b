// Package mcp speaks the Model Context Protocol: a session's tools for clients from outside (server.go, http.go).
package mcp
