package main

import (
	"context"
	"io"
	"slices"

	"go.uber.org/zap"

	"github.com/radpool/radpool/radpool"
)

// reload reads the file of -conf again. Clients and the number of workers change while
// requests are served; what else has changed is named, and is for the next start. Where
// something is wrong all stays as it was.
func reload(ctx context.Context, o *options, clients *radpool.Clients, server *radpool.Server, b *backend, log *zap.Logger) {
	next, err := parseFlags(o.args, io.Discard)
	if err == nil {
		err = next.resolve(ctx)
	}
	if err == nil {
		err = o.replaceClients(ctx, next.file.conf, clients, b)
	}
	if err != nil {
		log.Error("the configuration stays as it was", zap.Error(err))
		return
	}
	c := next.config
	if err := server.SetPolicy(next.workers()); err != nil {
		log.Error("the number of workers stays as it was", zap.Error(err))
		return
	}
	log.Info("read the configuration again", zap.Int("clients", len(clients.States())), zap.Int("max_servers", c.MaxServers),
		zap.Strings("for the next start", o.needsStart(next)))
}

// replaceClients makes the clients those of conf, or returns why they stay.
func (o *options) replaceClients(ctx context.Context, conf *radpool.Conf, clients *radpool.Clients, b *backend) error {
	o.file.mu.Lock()
	defer o.file.mu.Unlock()
	before := o.file.conf
	o.file.conf = conf
	err := readClientsLocked(ctx, clients, o, b)
	if err != nil {
		o.file.conf = before
	}
	return err
}

// needsStart names what next says otherwise than o, and what cannot change while serving.
func (o *options) needsStart(next *options) []string {
	names := []string{}
	a, b := o.config, next.config
	for _, field := range []struct {
		name    string
		changed bool
	}{
		{"max_request_time", a.MaxRequestTime != b.MaxRequestTime},
		{"cleanup_delay", a.CleanupDelay != b.CleanupDelay},
		{"max_requests", a.MaxRequests != b.MaxRequests},
		{"max_requests_per_server", a.MaxRequestsPerServer != b.MaxRequestsPerServer},
		{"max_queue_size", a.MaxQueueSize != b.MaxQueueSize},
		{"auto_limit_acct", a.AutoLimitAcct != b.AutoLimitAcct},
		{"max_attributes", a.MaxAttributes != b.MaxAttributes},
		{"recv_buff", a.ReceiveBuffer != b.ReceiveBuffer},
		{"listen", !slices.EqualFunc(o.listen, next.listen, func(x, y wanted) bool {
			return x.network == y.network && x.addr == y.addr && x.services == y.services
		})},
		{"sql", o.db != next.db || o.conns != next.conns || o.readClients != next.readClients || o.profile != next.profile || o.rules != next.rules},
	} {
		if field.changed {
			names = append(names, field.name)
		}
	}
	return names
}
