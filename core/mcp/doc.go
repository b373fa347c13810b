// Package mcp speaks the Model Context Protocol: a session's tools for clients from outside (server.go, http.go), and the tools of
// servers from outside for agents here: toolbox.go is all servers, source.go the life of one, carry.go the command or URL it is behind,
// listing.go what it offers and answers.
package mcp
