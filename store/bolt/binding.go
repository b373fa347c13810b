package bolt

import "cordboard/core"

// bindingKey names a thread; to is empty in none, so that no two routes share a key.
func bindingKey(route *core.DeliveryContext) ([]byte, error) {
	for _, part := range []struct{ what, text string }{
		{"channel of a thread", route.Channel}, {"address of a thread", route.To}, {"id of a thread", route.ThreadID},
	} {
		if err := checkText(part.what, part.text, core.MaxKeyBytes); err != nil {
			return nil, err
		}
	}
	if route.AccountID != "" {
		if err := checkText("account of a thread", route.AccountID, core.MaxKeyBytes); err != nil {
			return nil, err
		}
	}
	return joined(route.Channel, string(joined(route.AccountID, string(joined(route.To, route.ThreadID))))), nil
}

// Binding returns the binding of a thread.
func (t *txn) Binding(route core.DeliveryContext) (core.Binding, bool, error) {
	k, err := bindingKey(&route)
	if err != nil || !t.has(bBinding) {
		return core.Binding{}, false, nil // what cannot be a thread's name is bound to nothing
	}
	return record[core.Binding](t, bBinding, "thread binding", string(k))
}

// PutBinding binds a thread.
func (t *txn) PutBinding(b core.Binding) error {
	k, err := bindingKey(&b.Route)
	if err != nil {
		return err
	}
	if err := checkKey(b.Session); err != nil {
		return err
	}
	return t.putRecord(bBinding, k, &b)
}

// DeleteBinding lets a thread go.
func (t *txn) DeleteBinding(route core.DeliveryContext) error {
	k, err := bindingKey(&route)
	if err != nil {
		return err
	}
	if t.get(bBinding, k) == nil {
		return nil
	}
	return t.del(bBinding, k)
}
