package tool

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Agent is one line of agents_list.
type Agent struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	Configured bool   `json:"configured"`
}

// AgentsAnswer is the answer of agents_list (session-tools.md §8): under which agents the requester's agent may start sub-agents.
type AgentsAnswer struct {
	Requester string
	AllowAny  bool
	Agents    []Agent // in any order
}

// JSON writes the answer: requester first, then the rest by id.
func (a AgentsAnswer) JSON() json.RawMessage {
	agents := slices.Clone(a.Agents)
	slices.SortFunc(agents, func(x, y Agent) int {
		if x.ID != y.ID && (x.ID == a.Requester || y.ID == a.Requester) {
			if x.ID == a.Requester {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.ID, y.ID)
	})
	var o object
	o.text("requester", a.Requester)
	o.boolean("allowAny", a.AllowAny)
	o.key("agents")
	o.buf = append(o.buf, '[')
	for i, agent := range agents {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		line := object{buf: o.buf}
		line.text("id", agent.ID)
		line.text("name", agent.Name)
		line.boolean("configured", agent.Configured)
		o.buf = line.done()
	}
	o.buf = append(o.buf, ']')
	return o.done()
}
