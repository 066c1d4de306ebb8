package radpool

import (
	"encoding/binary"
	"fmt"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3576"

	"github.com/radpool/radpool/internal/wire"
)

// isDynamic reports whether c is the code of a request that changes or ends a
// session (RFC 5176).
func isDynamic(c radius.Code) bool {
	return c == radius.CodeCoARequest || c == radius.CodeDisconnectRequest
}

// stale says why a verified CoA-Request or Disconnect-Request may have been
// recorded long ago, or "".
func (e *engine) stale(now time.Time, b []byte, client *clientEntry) string {
	if client.EventTimestamp == No {
		return ""
	}
	stamp, ok := eventTimestamp(b)
	if !ok {
		if client.EventTimestamp == Yes {
			return "no Event-Timestamp, which this client must send"
		}
		return ""
	}
	off := now.Sub(stamp)
	if off.Abs() <= e.config.EventTimestampWindow {
		return ""
	}
	return fmt.Sprintf("Event-Timestamp is %v off this host's clock, more than EventTimestampWindow", off.Round(time.Second))
}

// eventTimestamp finds the first Event-Timestamp (RFC 2869 section 5.3: seconds
// since 1970) of a packet that is well-formed. One of another length is no time that
// can be told, so it counts as 1970.
func eventTimestamp(b []byte) (time.Time, bool) {
	for t, value := range wire.Attributes(b[wire.HeaderLength:]) {
		if t != rfc2869.EventTimestamp_Type {
			continue
		}
		if len(value) != 4 {
			return time.Unix(0, 0), true
		}
		return time.Unix(int64(binary.BigEndian.Uint32(value)), 0), true
	}
	return time.Time{}, false
}

// ACK answers a CoA-Request with CoA-ACK, and a Disconnect-Request with
// Disconnect-ACK: what was asked for is done, all of it (RFC 5176 section 2.3).
// Code stays as it was where the request was another.
func (r *Response) ACK() {
	switch r.request {
	case radius.CodeCoARequest:
		r.Code = radius.CodeCoAACK
	case radius.CodeDisconnectRequest:
		r.Code = radius.CodeDisconnectACK
	}
}

// NAK answers a CoA-Request with CoA-NAK, and a Disconnect-Request with
// Disconnect-NAK: nothing of what was asked for is done. It adds Error-Cause, which says
// why (RFC 5176 section 3.5; package rfc3576 has most of the values, rfc5176 the rest). Where
// the request was another, it does nothing.
func (r *Response) NAK(cause rfc3576.ErrorCause) {
	switch r.request {
	case radius.CodeCoARequest:
		r.Code = radius.CodeCoANAK
	case radius.CodeDisconnectRequest:
		r.Code = radius.CodeDisconnectNAK
	default:
		return
	}
	r.AddUint32(rfc3576.ErrorCause_Type, uint32(cause))
}
