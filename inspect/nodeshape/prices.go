package nodeshape

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"sigs.k8s.io/yaml"
)

// Prices are what nodes cost for an hour.
type Prices struct {
	// Currency is what the prices are in, as "EUR". It may be "".
	Currency string `json:"currency"`
	// Shapes are the prices by the name of the shape, or of any node that it is like.
	Shapes map[string]float64 `json:"shapes"`
	// Labels are the prices by the key and the value of a label of the node, such as
	// node.kubernetes.io/instance-type.
	Labels map[string]map[string]float64 `json:"labels"`
}

// ReadPrices reads a list of prices, in YAML or JSON. name is that of the file, for messages.
func ReadPrices(name string, data []byte) (*Prices, error) {
	p := &Prices{}
	err := p.read(data)
	if err != nil {
		return nil, fmt.Errorf("reading prices from %s: %w", name, err)
	}
	return p, nil
}

func (p *Prices) read(data []byte) error {
	if len(data) > maxFile {
		return fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err := yaml.UnmarshalStrict(data, p); err != nil {
		return err
	}
	if len(p.Shapes)+len(p.Labels) == 0 {
		return errors.New("it gives no prices: under shapes by the name of a kind of node, or under labels by the key and the value of a label")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Shapes)) {
		if err := checkPrice(name, p.Shapes[name]); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		for _, value := range slices.Sorted(maps.Keys(p.Labels[key])) {
			if err := checkPrice(key+"="+value, p.Labels[key][value]); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxPrice keeps sums of prices finite.
const maxPrice = 1e12

func checkPrice(what string, price float64) error {
	if math.IsNaN(price) || price < 0 || price > maxPrice {
		return fmt.Errorf("the price of %s is %v", what, price)
	}
	return nil
}

// Of is the price of a shape: by its name, by a label of its node, or that which its source gives. Of several
// labels the first key counts, in the order of the alphabet.
func (p *Prices) Of(s *Shape) *float64 {
	if p == nil {
		return s.Price
	}
	if price, ok := p.Shapes[s.Name]; ok {
		return &price
	}
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		if value, ok := s.Node.Labels[key]; ok {
			if price, ok := p.Labels[key][value]; ok {
				return &price
			}
		}
	}
	return s.Price
}
