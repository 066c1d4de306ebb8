//go:build !race

// Under the race detector sync.Pool, which package wire uses, drops what it was given now and then.

package loadgen_test

import (
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/loadgen"
	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/internal/wire"
)

// A request, from being due to its verified answer, costs no allocation.
func TestAllocations(t *testing.T) {
	for _, mix := range []string{"pap", "chap", "mschap", "mschapv2", "session", "acct"} {
		cfg := config(t)
		m, err := loadgen.ParseMix(mix)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Mix, cfg.Requests, cfg.Workers, cfg.Interims = m, 0, 64, 1
		cfg.Duration = time.Hour
		lane := loadgen.NewLane(cfg, time.Unix(1_800_000_000, 0))
		key := wire.NewSecret(secret)
		reply := make([]byte, 0, 4096)
		packet := &radius.Packet{}
		answer := func(msg *udp.Message) []byte {
			b := msg.Buf[:msg.N]
			shape, _ := wire.Parse(b, 0)
			packet.Code = radius.CodeAccessAccept
			if shape.Code == radius.CodeAccountingRequest {
				packet.Code = radius.CodeAccountingResponse
			}
			out, err := wire.Encode(reply[:0], packet, b, &shape, key)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		now := time.Duration(0)
		turn := func() {
			now += time.Millisecond
			if err := lane.Turn(now, answer); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			turn()
		}
		if n := testing.AllocsPerRun(200, turn); n != 0 {
			t.Errorf("%s: %v allocations in a turn of 64 requests", mix, n)
		}
		if c := lane.Counters(); c.Answered < 64*300 || c.Lost != 0 || c.BadSignature != 0 {
			t.Errorf("%s: %+v", mix, c)
		}
	}
}
