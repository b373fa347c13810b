package openai

import "github.com/sashabaranov/go-openai"

// UnknownWindow is what a model is taken to read, in tokens, when its window is not configured.
const UnknownWindow = 32_768

// share of the window that a prompt may fill; the rest is for the answer (engine.md §3).
const sharePercent = 80

// What is counted beside text: a message's frame, and an image, whose true price depends on its size and on the model.
const (
	messageTokens = 4
	imageTokens   = 1_500
)

// budgetOf is how many tokens a prompt for a model may have.
func budgetOf(m Model) int {
	window := m.Window
	if window <= 0 {
		window = UnknownWindow
	}
	return window / 100 * sharePercent
}

// estimate is about how many tokens a text is, without the model's own tokenizer: a quarter of its ASCII bytes and one for every other
// character. English and code come out a little high, so that a prompt is rather too short than refused.
func estimate(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}

// tokensOf estimates messages.
func tokensOf(messages ...openai.ChatCompletionMessage) int {
	n := 0
	for _, m := range messages {
		n += messageTokens + estimate(m.Content)
		for _, part := range m.MultiContent {
			if part.ImageURL != nil {
				n += imageTokens
			}
			n += estimate(part.Text)
		}
		for _, c := range m.ToolCalls {
			n += messageTokens + estimate(c.Function.Name) + estimate(c.Function.Arguments)
		}
	}
	return n
}
