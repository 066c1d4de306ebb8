package radpool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc3576"

	"github.com/radpool/radpool/radpool"
)

// A configuration of FreeRADIUS as it stands. radpool.LoadConf reads one that includes other files.
func ExampleReadConf() {
	conf, err := radpool.ReadConf(strings.NewReader(`
max_request_time = 9
thread pool {
	max_servers = 64
}
client bras {
	ipaddr = 192.0.2.0/24
	secret = s3cret
}
hostname_lookups = no
`), "radiusd.conf")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(conf.Config.MaxRequestTime, conf.Config.MaxServers, conf.Clients[0].Name, conf.Clients[0].Prefix)
	for _, notice := range conf.Notices {
		fmt.Println(notice)
	}

	// What is wrong is an error that says where.
	_, err = radpool.ReadConf(strings.NewReader("cleanup_delay = soon\n"), "radiusd.conf")
	if wrong, ok := errors.AsType[*radpool.ConfError](err); ok {
		fmt.Println(wrong.File, wrong.Line, wrong.Field)
	}
	// Output:
	// 9s 64 bras 192.0.2.0/24
	// radiusd.conf:10: hostname_lookups is passed over: addresses are logged as they are
	// radiusd.conf 1 cleanup_delay
}

// oneQuery answers what waits with one question to its database.
type oneQuery struct{ queries int }

func (h *oneQuery) BatchSize() int { return 0 } // as many as there are

func (h *oneQuery) Handle(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
	h.HandleBatch([]*radpool.Exchange{{Ctx: ctx, Request: req, Response: resp}})
}

func (h *oneQuery) HandleBatch(batch []*radpool.Exchange) {
	h.queries++ // SELECT ... WHERE username IN (...)
	for _, x := range batch {
		if rfc2865.UserName_GetString(x.Request.Packet) == "olga" {
			x.Response.Fail(errors.New("her row is damaged")) // and nobody else's
			continue
		}
		x.Response.Code = radius.CodeAccessAccept
	}
}

// A worker hands over what waits, all at once, and never waits for company.
func ExampleBatchHandler() {
	h := &oneQuery{}
	var batch []*radpool.Exchange
	for _, user := range []string{"ivan", "olga", "pjotr"} {
		packet := radius.New(radius.CodeAccessRequest, []byte("testing123"))
		if err := rfc2865.UserName_SetString(packet, user); err != nil {
			fmt.Println(err)
		}
		req := radpool.NewRequest(packet, nil)
		batch = append(batch, &radpool.Exchange{Ctx: context.Background(), Request: req, Response: radpool.NewResponse(req)})
	}
	h.HandleBatch(batch)
	for _, x := range batch {
		fmt.Println(x.Response.Code, x.Response.Err())
	}
	fmt.Println(h.queries, "query")
	// Output:
	// Access-Accept <nil>
	// Code(0) her row is damaged
	// Access-Accept <nil>
	// 1 query
}

// The side of a NAS: a session that is there is ended, and another is refused with the reason.
func ExampleResponse_NAK() {
	sessions := map[string]bool{"5AC0": true}
	handler := radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		id := rfc2866.AcctSessionID_GetString(req.Packet)
		if req.Code != radius.CodeDisconnectRequest || !sessions[id] {
			resp.NAK(rfc3576.ErrorCause_Value_SessionContextNotFound)
			return
		}
		delete(sessions, id)
		resp.ACK()
	})
	for range 2 {
		packet := radius.New(radius.CodeDisconnectRequest, []byte("testing123"))
		if err := rfc2866.AcctSessionID_SetString(packet, "5AC0"); err != nil {
			fmt.Println(err)
		}
		req := radpool.NewRequest(packet, nil)
		resp := radpool.NewResponse(req)
		handler.Handle(context.Background(), req, resp)
		fmt.Println(resp.Code, rfc3576.ErrorCause_Get(resp.Packet))
	}
	// Output:
	// Disconnect-ACK ErrorCause(0)
	// Disconnect-NAK Session-Context-Not-Found
}
