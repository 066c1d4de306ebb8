package main

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// readAgain is how often the table nas is read.
const readAgain = time.Minute

// readClients makes the local ones and those of the table nas, if that is asked for,
// the clients from now on, beside those of -conf. What the file says of a prefix wins over
// what the table says, and that over the local ones; but a -secret that was given wins over
// all. Where the file has clients there are no local ones but with that.
func readClients(ctx context.Context, clients *radpool.Clients, o *options, b *backend) error {
	o.file.mu.Lock()
	defer o.file.mu.Unlock()
	return readClientsLocked(ctx, clients, o, b)
}

func readClientsLocked(ctx context.Context, clients *radpool.Clients, o *options, b *backend) error {
	var list []radpool.Client
	if o.readClients {
		var err error
		// A database that was not there yet has said nothing: nobody is taken away.
		if list, err = b.nas(ctx); err != nil && !errors.Is(err, billing.ErrAway) {
			return err
		}
	}
	if conf := o.file.conf; conf != nil && len(conf.Clients) > 0 {
		list = with(list, conf.Clients)
		if !o.given["secret"] {
			return clients.Replace(list)
		}
		list = slices.DeleteFunc(list, func(c radpool.Client) bool { return c.Prefix.Addr().IsLoopback() })
	}
	for name, prefix := range map[string]string{"localhost": "127.0.0.0/8", "localhost6": "::1/128"} {
		p := netip.MustParsePrefix(prefix)
		if !slices.ContainsFunc(list, func(c radpool.Client) bool { return c.Prefix == p }) {
			list = append(list, radpool.Client{Name: name, Prefix: p, Secret: []byte(o.secret)})
		}
	}
	return clients.Replace(list)
}

// with returns list with more, where the prefixes of more win.
func with(list, more []radpool.Client) []radpool.Client {
	said := make(map[netip.Prefix]bool, len(more))
	for _, c := range more {
		said[c.Prefix] = true
	}
	list = slices.DeleteFunc(list, func(c radpool.Client) bool { return said[c.Prefix.Masked()] })
	return append(list, more...)
}

// followClients reads what is about the clients again from time to time, until end is
// called, and when ready is closed: a database that was away at the start is there then,
// or has been since they were read. While that fails the old ones stay.
func followClients(ctx context.Context, read []func(context.Context) error, ready <-chan struct{}, log *zap.Logger) (end func()) {
	if len(read) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(readAgain)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			case <-ready:
				ready = nil
			}
			for _, f := range read {
				if err := f(ctx); err != nil && ctx.Err() == nil {
					log.Error("the clients stay as they were", zap.Error(err))
				}
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
