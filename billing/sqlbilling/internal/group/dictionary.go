package group

import (
	"fmt"
	"io/fs"

	"go.uber.org/zap"

	"github.com/radpool/radpool/internal/dict"
)

// Dictionary reads the dictionary of a back end's Options: the embedded one where
// fsys is nil. Errors begin with the package pkg.
func Dictionary(pkg string, fsys fs.FS, name string, log *zap.Logger) (*dict.Dictionary, error) {
	if fsys == nil {
		return dict.Default(), nil
	}
	if name == "" {
		name = "dictionary"
	}
	d, err := dict.Load(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("%s: dictionary: %w", pkg, err)
	}
	for _, n := range d.Notices() {
		log.Info("passed over", zap.Stringer("dictionary", n))
	}
	return d, nil
}
