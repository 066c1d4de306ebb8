package billing

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/radpool/radpool/eap"
)

// MaxEAPResponseTime is the most that EAPConfig.ResponseTime may be.
const MaxEAPResponseTime = time.Hour

// An EAPConfig says how a Processor serves EAP (RFC 3748, RFC 3579). The zero value
// offers EAP-MSCHAPv2, and EAP-MD5 to those who want that.
//
// Neither method is protected by a tunnel: who hears the conversation can look for
// the password in it at leisure. They are for wires and for a NAS that is trusted,
// not for the air; and EAP-MD5 gives no keys, which encrypted wireless needs.
// EAP-TLS, PEAP and EAP-TTLS are not offered; an eap.Method of one's own can be.
type EAPConfig struct {
	// Off rejects EAP at once, with an EAP-Failure, so that the NAS does not wait
	// for another server to speak it.
	Off bool

	// Methods are offered in this order. Empty: eap.DefaultMethods(). A method that
	// succeeds without asking for Credentials has proved who the subscriber is by
	// itself, and no password is wanted then.
	Methods []eap.Method

	// MaxRounds is the most packets that a peer may send in a conversation. 0:
	// eap.DefaultMaxRounds; the most is eap.LimitMaxRounds.
	MaxRounds int

	// Timeout is how long the peer may take for each answer. 0: eap.DefaultTimeout;
	// the most is eap.MaxTimeout.
	Timeout time.Duration

	// MaxConversations is the most conversations that wait for an answer, about 800
	// octets each with the methods of package eap. Beyond it the oldest is dropped and
	// counted in Stats.EAPPushed. 0: eap.DefaultMaxConversations; the most is
	// eap.LimitMaxConversations.
	MaxConversations int

	// ResponseTime is what each Access-Challenge tells the NAS, as Session-Timeout in
	// whole seconds, of how long to wait before it asks the peer again (RFC 3579
	// section 2.3). 0: nothing, and the NAS decides, which is best where no human
	// types. The most is MaxEAPResponseTime.
	ResponseTime time.Duration
}

func (c *EAPConfig) validate() error {
	var errs []error
	if err := (&eap.Config{Methods: c.Methods, MaxRounds: c.MaxRounds}).Validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Timeout < 0 || c.Timeout > eap.MaxTimeout {
		errs = append(errs, fmt.Errorf("Timeout is %v, must be 0 to %v", c.Timeout, eap.MaxTimeout))
	}
	if c.MaxConversations < 0 || c.MaxConversations > eap.LimitMaxConversations {
		errs = append(errs, fmt.Errorf("MaxConversations is %d, must be 0 to %d", c.MaxConversations, eap.LimitMaxConversations))
	}
	if c.ResponseTime < 0 || c.ResponseTime > MaxEAPResponseTime || c.ResponseTime%time.Second != 0 {
		errs = append(errs, fmt.Errorf("ResponseTime is %v, must be whole seconds, 0 to %v", c.ResponseTime, MaxEAPResponseTime))
	}
	return errors.Join(errs...)
}

// An eapTable is the conversations that wait for their peers, with their lock.
type eapTable struct {
	config eap.Config

	mu    sync.Mutex // held for a few map operations, never across a call out but Exchange.Close
	table *eap.Table[*eapSession]
}

func (t *eapTable) init(c *EAPConfig) {
	t.config = eap.Config{Methods: c.Methods, MaxRounds: c.MaxRounds}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.table = eap.NewTable(c.Timeout, c.MaxConversations, func(s *eapSession) { s.conversation.Close() })
}

func (t *eapTable) stats() (s eap.TableStats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.table != nil { // it is when the first request has come
		s = t.table.Stats(time.Now())
	}
	return s
}
