package billingtest

import (
	"crypto/md5"  //nolint:gosec // what CHAP is made of (RFC 1994 section 4.1)
	"crypto/sha1" //nolint:gosec // what MS-CHAP is made of
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/md4" //nolint:gosec,staticcheck // as above

	"github.com/radpool/radpool/eap"
)

// The keys of MPPE (RFC 2548 section 2.4).
const (
	msMPPESendKey = 16
	msMPPERecvKey = 17
)

// answerMD5 is CHAP: Value-Size and Value.
func (p *EAPPeer) answerMD5(in eap.Packet) ([]byte, error) {
	if len(in.Data) < 1 || len(in.Data) < 1+int(in.Data[0]) {
		return nil, errors.New("billingtest: EAP-MD5: a request without a whole challenge")
	}
	challenge := in.Data[1 : 1+in.Data[0]]
	sum := md5.Sum([]byte(string([]byte{in.Identifier}) + p.password + string(challenge))) //nolint:gosec // as above
	return append([]byte{byte(len(sum))}, sum[:]...), nil
}

// answerMSCHAPv2 answers to Challenge (1), Success (3) and Failure (4) of
// draft-kamath-pppext-eap-mschapv2: OpCode, MS-CHAPv2-ID, MS-Length, and what comes
// with it.
func (p *EAPPeer) answerMSCHAPv2(data []byte) ([]byte, error) {
	if len(data) < 4 || int(binary.BigEndian.Uint16(data[2:])) != len(data) {
		return nil, errors.New("billingtest: EAP-MSCHAPv2: a request whose MS-Length is wrong")
	}
	rest := string(data[4:])
	switch op := data[0]; {
	case op == 1 && len(rest) > 17 && rest[0] == 16:
		return p.respondMSCHAPv2(data[1], []byte(rest[1:17]))
	case op == 3 && p.proof != "" && strings.HasPrefix(rest, p.proof+" M="):
		p.proven = true
		return []byte{3}, nil
	case op == 3:
		return nil, errors.New("billingtest: EAP-MSCHAPv2: the server's proof is wrong: the subscriber hangs up")
	case op == 4 && strings.HasPrefix(rest, "E=691 R=0 C="):
		p.refused = true
		return []byte{4}, nil
	default:
		return nil, fmt.Errorf("billingtest: EAP-MSCHAPv2: a request with OpCode %d that is none", op)
	}
}

func (p *EAPPeer) respondMSCHAPv2(id byte, challenge []byte) ([]byte, error) {
	hash, err := ntHash(p.password)
	if err != nil {
		return nil, err
	}
	peer := p.Request.octets("Peer-Challenge", 16)
	over := challengeHash(peer, challenge, withoutDomain(p.Identity))
	nt := challengeResponse(over, hash)
	p.proof = authenticatorResponse(hash, nt, over)
	p.msk = masterSessionKey(hash, nt)
	out := append([]byte{2, id, 0, 0, 49}, peer...)
	out = append(out, make([]byte, 8)...)
	out = append(append(append(out, nt...), 0), p.Identity...)
	binary.BigEndian.PutUint16(out[2:], uint16(len(out)))
	return out, nil
}

// Refused reports whether the server said by an EAP-MSCHAPv2 Failure that the password
// is wrong.
func (p *EAPPeer) Refused() bool { return p.refused }

// masterSessionKey is what the peer sends with and then what it receives with (RFC
// 3079 section 3.3): the server's receive key comes first.
func masterSessionKey(hash, response []byte) []byte {
	h := md4.New()
	h.Write(hash)
	master := sha1.Sum([]byte(string(h.Sum(nil)) + string(response) + "This is the MPPE Master Key")) //nolint:gosec // as above
	start := func(magic string) []byte {
		pad1, pad2 := strings.Repeat("\x00", 40), strings.Repeat("\xf2", 40)
		sum := sha1.Sum([]byte(string(master[:16]) + pad1 + magic + pad2)) //nolint:gosec // as above
		return sum[:16]
	}
	return append(
		start("On the client side, this is the send key; on the server side, it is the receive key."),
		start("On the client side, this is the receive key; on the server side, it is the send key.")...)
}
