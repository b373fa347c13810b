package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"cordboard/ui/safe"
)

// errLeft says that the operator did not want it after all.
var errLeft = errors.New("nothing was done")

// confirm asks before something that cannot simply be taken back, unless yes says that it need not. Without a terminal nobody can answer,
// and then yes is needed.
func (a *app) confirm(ctx context.Context, yes bool, verb, question string) error {
	switch {
	case yes:
		return nil
	case !a.terminal:
		return &usageError{fmt.Errorf("%s asks first, and there is no terminal to ask at: --yes says that it need not", verb)}
	}
	if _, err := fmt.Fprint(a.err, safe.Line(question)+" [y/N] "); err != nil {
		return err
	}
	answers := make(chan string, 1)
	go func() { // a read that nobody ends goes with the process
		line, _ := bufio.NewReader(a.in).ReadString('\n') // what came before an end counts
		answers <- line
	}()
	select {
	case answer := <-answers:
		if !strings.HasSuffix(answer, "\n") { // what comes next begins a line
			fmt.Fprintln(a.err)
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
			return nil
		}
		return errLeft
	case <-ctx.Done():
		return ctx.Err()
	}
}
