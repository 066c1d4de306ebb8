// Package reply makes the attributes of a Grant of those of a dictionary.
package reply

import (
	"fmt"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/dict"
)

// Append appends one attribute with its value: to hidden if it is encrypted on the
// wire, else to attrs. The error names it.
func Append(attrs radius.Attributes, hidden []billing.Hidden, ref dict.Ref, value []byte) (radius.Attributes, []billing.Hidden, error) {
	if ref.Encrypt == 0 {
		avp, err := ref.Encode(value)
		if err != nil {
			return attrs, hidden, err
		}
		return append(attrs, avp), hidden, nil
	}
	if ref.Internal() || !ref.Plain() {
		return attrs, hidden, fmt.Errorf("attribute %s cannot be sent encrypted", ref.Name)
	}
	h, err := billing.NewHidden(billing.Hiding(ref.Encrypt), ref.Vendor, uint8(ref.Code), value)
	if err != nil {
		return attrs, hidden, fmt.Errorf("attribute %s: %w", ref.Name, err)
	}
	if ref.Tagged {
		h = h.WithTag(ref.Tag)
	}
	return attrs, append(hidden, h), nil
}
