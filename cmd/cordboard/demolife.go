package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cordboard/core"
)

// The life of the demo: a fleet that was imported is made ours in part, and its offline agents talk as the messages tell them to.

const (
	demoDesk      = "agent:main:main"
	demoOps       = "agent:ops:main"
	demoResearch  = "agent:research:main"
	demoLounge    = "agent:main:telegram:group:-1001843377"
	demoDeploys   = "agent:main:discord:channel:1180223344556677889" // denied by the demo's send policy
	demoIncidents = "agent:ops:discord:channel:1180223344556670042"
	demoNight     = "agent:night:main"
)

// demoAdopted are the sessions whose agents talk; the others stay mirrors of the directory.
var demoAdopted = []string{demoDesk, demoOps, demoResearch, demoLounge, demoDeploys, demoIncidents}

// demoScene is what somebody in the demo does: the operator, a session by one of its tools, or a person in a chat.
type demoScene struct {
	as, tool string // a session's call; else the command
	params   map[string]any
	command  core.Command
}

func demoSend(session, message string) demoScene {
	return demoScene{command: core.Command{Send: &core.Send{Session: session, Message: message}}}
}

// demoSpawn is a sub-agent of a session; agent "" is the session's own.
func demoSpawn(session, agent, label, task string) demoScene {
	params := map[string]any{"task": task, "label": label}
	if agent != "" {
		params["agentId"] = agent
	}
	return demoScene{as: session, tool: "sessions_spawn", params: params}
}

func demoPolicy(session string, policy core.SendPolicy) demoScene {
	return demoScene{command: core.Command{Patch: &core.Patch{Session: session, SendPolicy: &policy}}}
}

// demoOpening is what has happened when the console opens: exchanges, deliveries, a sub-agent and one that is refused, a failure, a queue
// and what waits for the operator.
func demoOpening() []demoScene {
	return []demoScene{
		demoPolicy(demoIncidents, core.SendAllow), // the one channel that the deny rule spares
		{as: demoDesk, tool: "sessions_send", params: map[string]any{
			"sessionKey": demoOps, "timeoutSeconds": 20,
			"message": "How full is the disk of db-1? [[say:71 %, and 412 GB are free. [[say:Thanks, that is enough. [[say:REPLY_SKIP]]]]]] [[announce:db-1 is fine: 71 % of its disk is used.]]",
		}},
		{as: demoOps, tool: "sessions_send", params: map[string]any{
			"sessionKey": demoLounge, "timeoutSeconds": 20,
			"message": "Tell the lounge that the backup is done. [[say:I will.]] [[announce:The nightly backup is done, 212 GB in 41 minutes.]]",
		}},
		{as: demoOps, tool: "sessions_send", params: map[string]any{"sessionKey": demoDeploys, "message": "Rollback of 4398 is through."}}, // refused
		demoSpawn(demoLounge, "", "disk forecast", "When is the disk of db-1 full? [[say:In 41 days, at the pace of the last month.]] [[announce:db-1 has room for 41 days.]]"),
		demoSpawn(demoResearch, "ops", "look outside", "Read the deploy log."), // refused: it would leave the sandbox
		{command: core.Command{Inbound: &core.Inbound{
			Channel: "telegram", ChatType: core.ChatGroup, ID: "-1001843377", SenderID: "77", Text: "Is checkout slow for anybody else? [[say:p99 is 41 ms, as always.]]",
		}}},
		demoSend(demoOps, "Ask the model for a summary of last night. [[fail:the model is overloaded (529)]]"),
		demoSend(demoNight, "orders-api restarted twice since 02:00. May I roll it back?"),
	}
}

// demoRound is what goes on while the console is open, again and again.
func demoRound(n int) []demoScene {
	words := "Reading the edge logs of the last hour. There are two bursts of 502, at 02:13 and at 05:40, both towards orders-api:8443. The first one " +
		"falls together with the read peak of the backup; the second has no such neighbour. I would move the backup to 03:30 and look at the second one by hand."
	sweep := demoSpawn(demoLounge, "research", fmt.Sprintf("log sweep %d", n), fmt.Sprintf("Round %d: sweep last night's logs for new errors. "+
		"[[think:Four hosts, the busiest first.]] [[sleep:9s]] [[say:Two new kinds of error, both on edge-3.]] [[announce:Two new kinds of error, both on edge-3.]]", n))
	sweep.params["cleanup"] = "delete" // or they would push the others off the screen
	return []demoScene{
		demoSend(demoDesk, fmt.Sprintf("Round %d: look at the edge logs. [[think:Two files, the larger one first.]] [[stream:60/150ms]] [[tokens:8200/96]] [[say:%s]]", n, words)),
		demoSend(demoIncidents, fmt.Sprintf("Round %d: watch checkout. [[sleep:12s]] [[say:Nothing unusual in twelve seconds.]]", n)),
		demoSend(demoIncidents, "And the payment queue? [[sleep:6s]] [[say:It is empty.]]"),
		sweep,
		{as: demoOps, tool: "sessions_send", params: map[string]any{
			"sessionKey": demoDesk, "timeoutSeconds": 0, "message": fmt.Sprintf("Round %d: how far are you? [[sleep:2s]] [[say:Half of it. [[say:REPLY_SKIP]]]] [[announce:Half of the logs are read.]]", n),
		}},
	}
}

const demoPause = 25 * time.Second // between two rounds

// live plays the demo until ctx ends. What is refused is part of it: a refusal is there to be seen.
func live(ctx context.Context, b core.Board) {
	for _, key := range demoAdopted {
		_, _ = b.Do(ctx, core.Command{Adopt: &core.Adopt{Session: key}})
	}
	playAll(ctx, b, demoOpening())
	for n := 1; ctx.Err() == nil; n++ {
		playAll(ctx, b, demoRound(n))
		timer := time.NewTimer(demoPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func playAll(ctx context.Context, b core.Board, scenes []demoScene) {
	for _, s := range scenes {
		if s.tool == "" {
			_, _ = b.Do(ctx, s.command)
			continue
		}
		if params, err := json.Marshal(s.params); err == nil {
			_, _ = b.Call(ctx, core.ToolCall{As: s.as, Tool: s.tool, Params: params})
		}
	}
}
