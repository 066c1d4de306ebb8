package main

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/radpool/radpool/radpool"
)

// readAgain is how often the table nas is read.
const readAgain = time.Minute

// readClients makes the local ones and those of the table nas, if that is asked for,
// the clients from now on. What the table says of a local prefix wins over -secret.
func readClients(ctx context.Context, clients *radpool.Clients, o *options, b *backend) error {
	var list []radpool.Client
	if o.readClients {
		var err error
		if list, err = b.nas(ctx); err != nil {
			return err
		}
	}
	for name, prefix := range map[string]string{"localhost": "127.0.0.0/8", "localhost6": "::1/128"} {
		p := netip.MustParsePrefix(prefix)
		if !slices.ContainsFunc(list, func(c radpool.Client) bool { return c.Prefix == p }) {
			list = append(list, radpool.Client{Name: name, Prefix: p, Secret: []byte(o.secret)})
		}
	}
	return clients.Replace(list)
}

// followClients reads the clients again from time to time, until end is called.
// While that fails the old ones stay.
func followClients(ctx context.Context, clients *radpool.Clients, o *options, b *backend, log *zap.Logger) (end func()) {
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
			}
			if err := readClients(ctx, clients, o, b); err != nil && ctx.Err() == nil {
				log.Error("the clients stay as they were", zap.Error(err))
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
