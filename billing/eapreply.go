package billing

import (
	"fmt"
	"slices"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc3576"

	"github.com/radpool/radpool/eap"
	"github.com/radpool/radpool/radpool"
)

// invalidEAPPacket is the Error-Cause "Invalid EAP Packet (Ignored)" (RFC 3579 section
// 2.2).
const invalidEAPPacket = 202

// challenge answers with the conversation's request, and keeps the conversation for
// the answer to that.
func (p *Processor) challenge(a *access, resp *radpool.Response) {
	r := &a.eap
	resp.Code = radius.CodeAccessChallenge
	resp.SetReason(r)
	eap.Fragments(r.result.Packet, func(v []byte) { resp.Add(eapType, v) })
	if r.result.Verdict == eap.Ignore {
		p.stats.eapIgnored.Add(1)
		resp.AddUint32(rfc3576.ErrorCause_Type, invalidEAPPacket)
	}
	if p.EAP.ResponseTime > 0 {
		resp.AddUint32(rfc2865.SessionTimeout_Type, uint32(p.EAP.ResponseTime/time.Second))
	}
	p.stats.challenged.Add(1)
	if r.session == nil {
		return // the identity was asked for
	}
	r.method = r.session.conversation.Method() // once it is put, others have the session
	p.eap.mu.Lock()
	state := p.eap.table.Put(time.Now(), a.Request.RemoteAddr.Addr(), r.session)
	p.eap.mu.Unlock()
	r.waits = true
	resp.Add(rfc2865.State_Type, state[:])
}

// String says in one line why a request is answered with a challenge.
func (r *eapRound) String() string {
	switch {
	case r.method == 0:
		return "the EAP identity is asked for"
	case r.result.Verdict == eap.Ignore:
		return "passed over, because " + r.result.Err.Error()
	}
	return "the EAP conversation goes on, by " + r.method.String()
}

// addEAPSuccess adds what ends a conversation well: EAP-Success, the keys, and the
// name by which the NAS is to know the subscriber.
func (a *access) addEAPSuccess(resp *radpool.Response, attrs radius.Attributes, policy MPPEPolicy, s *salts) error {
	if !has(attrs, rfc2865.UserName_Type) {
		resp.AddString(rfc2865.UserName_Type, a.UserName)
	}
	resp.Add(eapType, a.eap.result.Packet)
	msk := a.eap.result.MSK
	if len(msk) == 0 || policy == MPPEOff {
		return nil
	}
	// Recv-Key is the first half, Send-Key the second (RFC 3748 section 7.10 and RFC
	// 5216 section 2.3); of MSCHAPv2 the halves have 16 octets.
	half := len(msk) / 2
	if err := a.addKeys(resp, msk[half:], msk[:half], s); err != nil {
		return fmt.Errorf("billing: EAP keys: %w", err)
	}
	if a.Method == MethodEAPMSCHAPv2 {
		addMPPEPolicy(resp, attrs, policy)
	}
	return nil
}

// addEAPFailure adds EAP-Failure, with the Identifier of the response that it follows
// (RFC 3748 section 4.2).
func (a *access) addEAPFailure(resp *radpool.Response) {
	resp.Add(eapType, eap.Packet{Code: eap.CodeFailure, Identifier: a.eap.identifier()}.Append(nil))
}

// withoutReplyMessage is attrs without Reply-Message, which must not stand beside
// EAP-Message (RFC 3579 section 2.6.5). attrs are shared and stay as they are.
func withoutReplyMessage(attrs radius.Attributes) radius.Attributes {
	if !has(attrs, rfc2865.ReplyMessage_Type) {
		return attrs
	}
	return slices.DeleteFunc(slices.Clone(attrs), func(avp *radius.AVP) bool { return avp.Type == rfc2865.ReplyMessage_Type })
}
