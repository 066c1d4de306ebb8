package wire_test

import (
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// Which reply answers which request, as the RFCs list them.
func TestAnswers(t *testing.T) {
	answers := map[radius.Code][]radius.Code{
		radius.CodeAccessRequest:     {radius.CodeAccessAccept, radius.CodeAccessReject, radius.CodeAccessChallenge, wire.CodeProtocolError},
		radius.CodeAccountingRequest: {radius.CodeAccountingResponse, wire.CodeProtocolError},
		radius.CodeStatusServer:      {radius.CodeAccessAccept, radius.CodeAccountingResponse, wire.CodeProtocolError},
		radius.CodeDisconnectRequest: {radius.CodeDisconnectACK, radius.CodeDisconnectNAK, wire.CodeProtocolError},
		radius.CodeCoARequest:        {radius.CodeCoAACK, radius.CodeCoANAK, wire.CodeProtocolError},
	}
	for request := range radius.Code(256) {
		want := map[radius.Code]bool{}
		for _, reply := range answers[request] {
			want[reply] = true
		}
		if got := wire.IsRequest(request); got != (len(want) > 0) {
			t.Errorf("IsRequest(%d) is %v", int(request), got)
		}
		for reply := range radius.Code(256) {
			if got := wire.Answers(request, reply); got != want[reply] {
				t.Errorf("Answers(%d, %d) is %v", int(request), int(reply), got)
			}
		}
	}
}
