package eap_test

import (
	"crypto/md5"
	"fmt"

	"github.com/radpool/radpool/eap"
)

// alice has a password in cleartext.
type alice struct{}

func (alice) MD5(id uint8, challenge, response []byte) bool {
	sum := md5.Sum([]byte(string([]byte{id}) + "secret" + string(challenge)))
	return string(sum[:]) == string(response)
}

func (alice) MSCHAPv2(_, _ []byte, _ string, _ []byte) (proof eap.MSCHAPv2Proof, ok bool) {
	return proof, false
}

func (alice) Password(password []byte) bool { return string(password) == "secret" }

// A conversation by EAP-MD5, from both sides.
func Example() {
	config := &eap.Config{Methods: []eap.Method{eap.MD5{}}}
	identity := eap.Packet{Code: eap.CodeResponse, Identifier: 7, Type: eap.TypeIdentity, Data: []byte("alice")}
	conversation, result := eap.Begin(config, identity, 0)
	defer conversation.Close()

	request, _ := eap.Parse(result.Packet) // what the peer gets
	fmt.Println(request.Code, request.Identifier, request.Type)
	challenge := request.Data[1:]
	sum := md5.Sum([]byte(string([]byte{request.Identifier}) + "secret" + string(challenge)))
	response := eap.Packet{
		Code: eap.CodeResponse, Identifier: request.Identifier, Type: eap.TypeMD5,
		Data: append([]byte{16}, sum[:]...),
	}

	result = conversation.Receive(response)
	if result.Verdict == eap.Verify { // now it matters who conversation.Identity() is
		result = conversation.Verify(alice{})
	}
	fmt.Println(result.Verdict == eap.Success)
	fmt.Printf("%x\n", result.Packet)
	// Output:
	// Request 8 MD5
	// true
	// 03080004
}

// A conversation waits in a table for the peer's next packet.
func ExampleTable() {
	table := eap.NewTable[string](0, 0, nil)
	state := table.Put(now, nas1, "alice's conversation")
	if _, _, ok := table.Take(now, nas2, state[:]); !ok {
		fmt.Println("not with another client")
	}
	c, _, ok := table.Take(now, nas1, state[:])
	fmt.Println(c, ok)
	// Output:
	// not with another client
	// alice's conversation true
}
