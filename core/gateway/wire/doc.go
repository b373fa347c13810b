// Package wire carries calls over a connection: JSON frames in WebSocket messages (gateway.md §2). It knows nothing of boards.
//
//	→ {"type":"req","id":7,"method":"cordboard.sessions","params":{…}}
//	← {"type":"event","id":7,"payload":{…}}                              what a running call tells before its answer
//	← {"type":"res","id":7,"ok":true,"payload":{…}}
//	← {"type":"res","id":7,"ok":false,"error":{"code":…,"error":…}}
//	→ {"type":"cancel","id":7}                                           the caller waits no longer
//
// The first request of a connection is `hello`. Until it is answered a frame may have 64 KiB, after it 25 MiB; what a server sends is not
// limited, since a client trusts the server it attached to. A frame is a text message; one that holds bytes which are not UTF-8, as an
// imported transcript may, is sent as a binary message, and only by a server. Params and payloads are the last member of their frame, so
// that they are written and read without being parsed on the way.
//
// frame.go is the form of a frame, server.go and client.go the two ends, socket.go the unix socket between them.
package wire
