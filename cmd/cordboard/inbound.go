package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
)

type inboundFlags struct {
	in       core.Inbound
	chatType string
	key      string
	wait     int
}

func newInbound(a *app) *cobra.Command {
	var f inboundFlags
	c := &cobra.Command{
		Use:   "inbound --channel NAME --peer ID TEXT|-",
		Short: "Bring a person's message in from a channel",
		Long: "inbound is what a bridge calls for every message it receives: the session of the chat is found, or made by its first message, and the\n" +
			"agent's reply goes out through the channel (channels.NAME of the config; a channel that is not configured keeps it). A direct chat\n" +
			"names its --peer, a group or channel its --id. --key makes a repetition the same message. Where the send policy denies the session\n" +
			"the message is kept and no agent runs. - reads the text from standard input.",
		Example: "  cordboard inbound --channel telegram --peer 42 --sender 42 'hello'\n" +
			"  cordboard inbound --channel discord --chat-type group --id 99 --sender 42 --name '#ops' --wait 30 -",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			var err error
			if f.in.Text, err = a.message(c.Context(), args[0]); err != nil {
				return err
			}
			f.in.ChatType = core.ChatType(strings.ToLower(strings.TrimSpace(f.chatType)))
			return a.reach(c, "", func(ctx context.Context, b core.Board) error { return a.inbound(ctx, b, f) })
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := c.Flags()
	flags.StringVar(&f.in.Channel, "channel", "", "the channel the message came from")
	flags.StringVar(&f.chatType, "chat-type", "", "direct, group or channel (default direct)")
	flags.StringVar(&f.in.Peer, "peer", "", "who wrote, in a direct chat")
	flags.StringVar(&f.in.ID, "id", "", "of the group or channel")
	flags.StringVar(&f.in.ThreadID, "thread", "", "of the thread")
	flags.StringVar(&f.in.AccountID, "account", "", "the account at the channel that received it")
	flags.StringVar(&f.in.SenderID, "sender", "", "who wrote; one of channels.NAME.owners may command with /send")
	flags.StringVar(&f.in.Name, "name", "", "of the chat, for people")
	flags.StringVar(&f.in.Agent, "agent", "", "whose sessions (default the default agent's)")
	flags.StringVar(&f.key, "key", "", "idempotency key: the same message when it is given again")
	flags.IntVar(&f.wait, "wait", 0, "seconds to wait for the reply and print it; 0 does not wait")
	offer(c, "channel", a.channelNames)
	offer(c, "chat-type", fixed("direct", "group", "channel"))
	offer(c, "agent", a.agentIDs)
	return c
}

func (f inboundFlags) check() error {
	switch {
	case strings.TrimSpace(f.in.Channel) == "":
		return &usageError{errors.New("--channel is missing: name the channel the message came from, such as telegram")}
	case f.wait < 0 || f.wait > maxWait:
		return &usageError{fmt.Errorf("--wait %d: 0 to %d seconds", f.wait, maxWait)}
	}
	return nil
}

func (a *app) inbound(ctx context.Context, b core.Board, f inboundFlags) error {
	receipt, err := b.Do(ctx, core.Command{Key: f.key, Inbound: &f.in})
	switch {
	case err != nil:
		return err
	case f.wait > 0 && receipt.Outcome == "":
		return a.await(ctx, b, receipt.Run, f.wait)
	case a.json:
		return a.printJSON(receipt)
	case receipt.Outcome == "":
		return a.say("queued run %s in %s", receipt.Run, receipt.Key)
	case receipt.Run != "":
		return a.say("%s in %s: the message is kept, no agent runs", receipt.Outcome, receipt.Key)
	}
	return a.say("%s in %s", receipt.Outcome, receipt.Key)
}

func (a *app) channelNames(c *cobra.Command) []string {
	return a.onBoard(c, func(b core.Board) ([]string, error) {
		info, err := b.Info(c.Context())
		return info.Channels, err
	})
}
