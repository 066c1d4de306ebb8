package billingtest_test

import (
	"crypto/sha1"
	"encoding/base64"
)

func sha1Base64(password string) string {
	sum := sha1.Sum([]byte(password))
	return base64.StdEncoding.EncodeToString(sum[:])
}
