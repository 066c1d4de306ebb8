package loadgen_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/internal/simnet"
	"github.com/radpool/radpool/radpool"
)

// backend knows users by name, and is slow for one of them.
type backend map[string]string

func (b backend) Authorize(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	if req.UserName == "slow" {
		time.Sleep(4 * time.Second) // of the bubble
	}
	return billing.Grant{Password: billing.Cleartext(b[req.UserName])}, nil
}

func (b backend) Account(context.Context, *billing.AccountingRecord) error { return nil }

// serve runs a radpool.Server on the network; the function returned ends it and returns what it has counted.
func serve(t *testing.T, n *simnet.Network) func() radpool.Stats {
	t.Helper()
	clients, err := radpool.NewClients(radpool.Client{Prefix: netip.PrefixFrom(nas, 32), Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	users := backend{"alice": "wonderland", "bob": "builder", "slow": "slow", "carol": "right"}
	server := &radpool.Server{Handler: &billing.Processor{Handler: users, ReservationTime: -1}, Clients: clients}
	served := make(chan error, 2)
	for _, s := range []struct {
		at   netip.AddrPort
		what radpool.Services
	}{{auth, radpool.Auth}, {acct, radpool.Acct}} {
		conn, err := n.Listen(s.at)
		if err != nil {
			t.Fatal(err)
		}
		go func() { served <- server.ServeServices(conn, s.what) }()
	}
	return func() radpool.Stats {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
		<-served
		return server.Stats()
	}
}

// Every figure is the server's own.
func TestFiguresAreTheServers(t *testing.T) {
	for _, mix := range []string{"pap", "chap", "mschap", "mschapv2", "session=2,session-chap,session-mschapv2,acct,mschapv2,mschap,session-mschap"} {
		t.Run(mix, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := together(t, mix)
				n := network(t, &cfg, simnet.Config{MinDelay: time.Millisecond, MaxDelay: 9 * time.Millisecond})
				end := serve(t, n)
				r := run(t, cfg)
				st := end()
				if r.Wrong() != 0 || r.Lost != 0 || r.Retransmitted == 0 || r.Duplicated == 0 || mix != "acct" && r.Rejects == 0 {
					t.Errorf("%+v", r.Counters)
				}
				for _, same := range []struct {
					what         string
					ours, theirs uint64
				}{
					{"datagrams", r.Sent, st.Received},
					{"requests", r.Requests, st.AccessRequests + st.AccountingRequests},
					{"answers", r.Answered, st.Replied},
					{"replies", r.Replies, st.Replied + st.Replayed},
					{"copies", r.Retransmitted + r.Duplicated, st.Duplicate + st.Replayed},
					{"Access-Accepts", r.Accepts, st.AccessAccepts},
					{"Access-Rejects", r.Rejects, st.AccessRejects},
					{"Accounting-Responses", r.AccountingResponses, st.AccountingResponses},
				} {
					if same.ours != same.theirs {
						t.Errorf("%s: %d here, %d there", same.what, same.ours, same.theirs)
					}
				}
			})
		})
	}
}

func together(t *testing.T, mix string) loadgen.Config {
	t.Helper()
	cfg := config(t)
	var err error
	if cfg.Mix, err = loadgen.ParseMix(mix); err != nil {
		t.Fatal(err)
	}
	users := "alice wonderland accept\nbob builder accept\nslow slow accept\ncarol wrong reject\n"
	if cfg.Users, err = loadgen.ReadUsers(strings.NewReader(users)); err != nil {
		t.Fatal(err)
	}
	cfg.Workers, cfg.Requests, cfg.Sockets, cfg.Retries = 16, 400, 3, 2
	cfg.Duplicates, cfg.Interims = 0.2, 2
	return cfg
}

// Whatever a network does to the datagrams, every request ends, and nothing right is taken for wrong.
func TestBadNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := together(t, "pap,session-mschapv2=2")
		cfg.Timeout, cfg.Requests = 300*time.Millisecond, 1000
		n := network(t, &cfg, simnet.Config{Seed: 7, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, MaxDelay: 50 * time.Millisecond})
		end := serve(t, n)
		r := run(t, cfg)
		st := end()
		if r.Wrong() != 0 || r.Lost == 0 || r.Retransmitted == 0 || r.Extra == 0 || r.Foreign != 0 {
			t.Errorf("%+v", r.Counters)
		}
		if r.Accepts > st.AccessAccepts || r.Rejects > st.AccessRejects || r.Answered > st.Replied {
			t.Errorf("%+v\nbut the server %+v", r.Counters, st)
		}
	})
}

func TestWrongSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := together(t, "pap")
		cfg.Secret, cfg.Requests, cfg.Retries, cfg.Duplicates = []byte("wrong"), 20, 0, 0
		n := network(t, &cfg, simnet.Config{})
		end := serve(t, n)
		r := run(t, cfg)
		if st := end(); r.Lost != 20 || r.Answered != 0 || st.Unauthentic != 20 {
			t.Errorf("%+v", r.Counters)
		}
	})
}
