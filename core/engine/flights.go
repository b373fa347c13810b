package engine

import "cordboard/core"

// flights are the attempts under way: one a route, so that texts arrive in their order, and a few a channel, so that a sink that hangs
// keeps nobody else waiting. The driver's mutex guards them.
type flights struct {
	routes   map[core.DeliveryContext]bool
	channels map[string]int
	due      map[string]core.DeliveryContext // routes of what was due when it was looked last, by delivery; of the goroutine that looks
}

const flightsPerChannel = 8

func (f *flights) take(route core.DeliveryContext) bool {
	if f.routes[route] || f.channels[route.Channel] >= flightsPerChannel {
		return false
	}
	f.routes[route] = true
	f.channels[route.Channel]++
	return true
}

func (f *flights) land(route core.DeliveryContext) {
	delete(f.routes, route)
	if f.channels[route.Channel]--; f.channels[route.Channel] == 0 {
		delete(f.channels, route.Channel)
	}
}

// flight is one attempt that is to be made.
type flight struct {
	due   core.Due
	route core.DeliveryContext
}

// attemptDue begins an attempt at every delivery that is due and whose route is free, each on its own, and returns when the next one is
// due, 0 for none.
func (d *driver) attemptDue() (next int64, err error) {
	var begun []flight
	err = d.engine.store.View(d.ctx, func(r core.Reader) (err error) {
		var due []core.Due
		if due, next, err = dueNow(r, d.engine.now()); err == nil {
			begun, err = d.takeOff(r, due)
		}
		return err
	})
	for _, f := range begun { // also after an error: what was taken must land
		d.tasks.Go(func() {
			if err := d.engine.deliver(d.ctx, f.due); err != nil {
				_ = d.engine.clock.Sleep(d.ctx, retryAfter)
			}
			d.mu.Lock()
			d.flights.land(f.route)
			d.idle.Broadcast()
			d.mu.Unlock()
			signal(d.due)
		})
	}
	return next, err
}

// dueNow reads which deliveries are due, and when the next one is, 0 for none.
func dueNow(r core.Reader, now int64) (due []core.Due, next int64, err error) {
	err = r.Due(anyTime, func(entry core.Due) bool {
		if entry.Kind != dueDelivery {
			return true
		}
		if entry.At > now {
			next = entry.At
			return false
		}
		due = append(due, entry)
		return true
	})
	return due, next, err
}

// takeOff takes the routes of what is due, as far as they are free. A route that was not is left alone to the end, though it may have become
// free: its first text goes first.
func (d *driver) takeOff(r core.Reader, due []core.Due) (begun []flight, err error) {
	seen, busy := d.flights.due, map[core.DeliveryContext]bool{}
	d.flights.due = make(map[string]core.DeliveryContext, len(due))
	for _, entry := range due {
		route, known := seen[entry.ID] // a long line behind a sink that hangs is read once, not at every turn
		if !known {
			delivery, _, err := r.Delivery(entry.ID)
			if err != nil {
				return begun, err
			}
			route = delivery.Route
		}
		d.flights.due[entry.ID] = route
		if busy[route] {
			continue
		}
		busy[route] = true
		d.mu.Lock()
		if d.flights.take(route) {
			begun = append(begun, flight{entry, route})
		}
		d.mu.Unlock()
	}
	return begun, nil
}
