package radpool

import (
	"errors"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/internal/wire"
)

// statusServer answers a Status-Server (RFC 5997 section 4): Access-Accept, or
// Accounting-Response on a socket for accounting without authentication. It changes
// nothing, so it is not remembered.
func (r *reader) statusServer(m *udp.Message, shape *wire.Shape, client *clientEntry) {
	r.reply = radius.Packet{Code: radius.CodeAccessAccept}
	if r.services&(Auth|Acct) == Acct {
		r.reply.Code = radius.CodeAccountingResponse
	}
	if r.services&Status != 0 {
		if ask := readStatisticsRequest(m.Buf[wire.HeaderLength:shape.Length]); ask.what != 0 {
			r.reply.Attributes = r.engine.statistics(&ask)
		}
	}
	r.out.add(r.listener, *m, func(memory []byte) ([]byte, bool) {
		out, err := wire.Encode(memory, &r.reply, m.Buf[:m.N], shape, client.secret)
		if errors.Is(err, wire.ErrPacketTooLong) {
			// The statistics leave room for 2 KiB of Proxy-State. Without them there is room
			// for all that fitted into the request.
			r.reply.Attributes = nil
			out, err = wire.Encode(memory, &r.reply, m.Buf[:m.N], shape, client.secret)
		}
		if err != nil {
			r.counters.writeErrors.Add(1)
		}
		return out, err == nil
	})
}

// statistics are the attributes that ask is answered with.
func (e *engine) statistics(ask *statisticsRequest) radius.Attributes {
	st := e.stats()
	table := e.clients.table.Load()
	s := statistics{stats: &st}
	s.hup = st.Started
	if table != nil && table.since.After(st.Started) {
		s.hup = table.since
	}
	if ask.what&statisticsOfClient != 0 {
		if c := ask.client(e.clients, table); c != nil {
			state := c.state()
			s.client = &state
		}
	}
	return s.answer(ask)
}

// client is the one that is asked about, or nil.
func (ask *statisticsRequest) client(clients *Clients, table *clientTable) *clientEntry {
	switch {
	case ask.addr.IsValid():
		return clients.lookup(ask.addr.Unmap())
	case ask.byNumber && table != nil && uint64(ask.number) < uint64(len(table.all)):
		return table.all[ask.number]
	}
	return nil
}
