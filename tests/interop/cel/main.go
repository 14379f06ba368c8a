// Reads expressions, one JSON object a line, and answers what the CEL of Kubernetes makes of each: the text of its
// refusal, or the type, the value or the failure, and the cost; or, if asked, between what and what the cost may be,
// where the sizes of a variable are the limits that its type is written with.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type question struct {
	Expression string            `json:"expression"`
	Variables  map[string]string `json:"variables"`
	Values     json.RawMessage   `json:"values"`
	// Root is the variable whose type knows all sizes; with it, the cost is estimated and nothing is evaluated.
	Root string `json:"root"`
}

type answer struct {
	Refusal string `json:"refusal,omitempty"`
	Type    string `json:"type,omitempty"`
	Value   string `json:"value,omitempty"`
	Failure string `json:"failure,omitempty"`
	Cost    uint64 `json:"cost"`
	// Estimate is from the least to the most.
	Estimate []uint64 `json:"estimate,omitempty"`
}

func main() {
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	writer := bufio.NewWriter(os.Stdout)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			var q question
			if err := json.Unmarshal(line, &q); err != nil {
				panic(err)
			}
			told, _ := json.Marshal(ask(q))
			writer.Write(told)
			writer.WriteByte('\n')
			writer.Flush()
		}
		if err != nil {
			return
		}
	}
}

var envs = map[string]*cel.Env{}

func environmentFor(variables map[string]string) *cel.Env {
	key, _ := json.Marshal(variables)
	if env, ok := envs[string(key)]; ok {
		return env
	}
	options := environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0)}
	for name, spelled := range variables {
		declared, _ := parse(spelled)
		if declared.IsObject() {
			options.DeclTypes = append(options.DeclTypes, declared)
		}
		options.EnvOptions = append(options.EnvOptions, cel.Variable(name, declared.CelType()))
	}
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 37)).Extend(options)
	if err != nil {
		panic(err)
	}
	env, err := set.Env(environment.StoredExpressions)
	if err != nil {
		panic(err)
	}
	envs[string(key)] = env
	return env
}

// parse reads a type as written by Hardpoint: list(int), map(string, dyn), Name{field: type, ...}.
func parse(text string) (*apiservercel.DeclType, string) {
	text = strings.TrimLeft(text, " ,")
	end := strings.IndexAny(text, "(){},")
	if end < 0 {
		end = len(text)
	}
	name, rest := text[:end], text[end:]
	limit := int64(-1)
	if open := strings.Index(name, "["); open >= 0 {
		limit, _ = strconv.ParseInt(strings.TrimSuffix(name[open+1:], "]"), 10, 64)
		name = name[:open]
	}
	switch name {
	case "list":
		item, rest := parse(rest[1:])
		return apiservercel.NewListType(item, limit), rest[1:]
	case "map":
		key, rest := parse(rest[1:])
		value, rest := parse(rest)
		return apiservercel.NewMapType(key, value, limit), rest[1:]
	case "dyn":
		return limited(apiservercel.DynType, limit), rest
	case "int":
		return apiservercel.IntType, rest
	case "uint":
		return apiservercel.UintType, rest
	case "double":
		return apiservercel.DoubleType, rest
	case "string":
		return limited(apiservercel.StringType, limit), rest
	case "bool":
		return apiservercel.BoolType, rest
	case "bytes":
		return limited(apiservercel.BytesType, limit), rest
	case "duration":
		return apiservercel.DurationType, rest
	case "timestamp":
		return apiservercel.TimestampType, rest
	case "authorizer":
		return apiservercel.NewSimpleTypeWithMinSize(name, library.AuthorizerType, nil, 0), rest
	case "resourceCheck":
		return apiservercel.NewSimpleTypeWithMinSize(name, library.ResourceCheckType, nil, 0), rest
	}
	fields := map[string]*apiservercel.DeclField{}
	rest = rest[1:]
	for !strings.HasPrefix(rest, "}") {
		colon := strings.Index(rest, ":")
		field := strings.TrimLeft(rest[:colon], " ,")
		declared, left := parse(rest[colon+1:])
		fields[field] = apiservercel.NewDeclField(field, declared, false, nil, nil)
		rest = strings.TrimLeft(left, " ,")
	}
	return apiservercel.NewObjectType(name, fields), rest[1:]
}

func limited(declared *apiservercel.DeclType, limit int64) *apiservercel.DeclType {
	copied := *declared
	copied.MaxElements = limit
	return &copied
}

// sizes answers for paths as the rules of custom resources do: whatever they begin with, they begin at the root.
type sizes struct {
	root *apiservercel.DeclType
}

func (s *sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 {
		return nil
	}
	declared := s.root
	for _, name := range element.Path()[1:] {
		switch name {
		case "@items", "@values":
			declared = declared.ElemType
		case "@keys":
			declared = declared.KeyType
		default:
			field, ok := declared.Fields[name]
			if !ok {
				return nil
			}
			declared = field.Type
		}
		if declared == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(declared.MaxElements)}
}

func (s *sizes) EstimateCallCost(function, overloadID string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	return nil
}

func ask(q question) (told answer) {
	defer func() {
		if r := recover(); r != nil {
			told.Failure = fmt.Sprintf("panic: %v", r)
		}
	}()
	env := environmentFor(q.Variables)
	ast, issues := env.Compile(q.Expression)
	if issues != nil && issues.Err() != nil {
		return answer{Refusal: issues.String()}
	}
	told.Type = ast.OutputType().String()
	if q.Root != "" {
		declared, _ := parse(q.Variables[q.Root])
		estimator := &library.CostEstimator{SizeEstimator: &sizes{root: declared}}
		found, err := env.EstimateCost(ast, estimator)
		if err != nil {
			panic(err)
		}
		told.Estimate = []uint64{found.Min, found.Max}
		return
	}
	program, err := env.Program(ast)
	if err != nil {
		told.Refusal = err.Error()
		return
	}
	values := map[string]any{}
	if len(q.Values) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(q.Values))
		decoder.UseNumber()
		if err := decoder.Decode(&values); err != nil {
			panic(err)
		}
	}
	for name, value := range values {
		values[name] = numbers(value)
	}
	for name, spelled := range q.Variables {
		switch spelled {
		case "authorizer":
			values[name] = library.NewAuthorizerVal(&user.DefaultInfo{Name: "jane"}, repeats{})
		case "resourceCheck":
			values[name] = library.NewResourceAuthorizerVal(&user.DefaultInfo{Name: "jane"}, repeats{}, deployment{})
		}
	}
	out, details, err := program.Eval(values)
	if details != nil && details.ActualCost() != nil {
		told.Cost = *details.ActualCost()
	}
	if err != nil {
		told.Failure = err.Error()
		return
	}
	told.Value = show(out)
	return
}

// repeats allows to get, fails to fail, and repeats every question as its reason.
type repeats struct{}

func (repeats) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	parts := []string{a.GetVerb(), a.GetPath(), a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName()}
	if name := a.GetUser().GetName(); name != "jane" {
		parts = append(parts, name)
	}
	reason := strings.Join(parts, " ")
	switch a.GetVerb() {
	case "get":
		return authorizer.DecisionAllow, reason, nil
	case "fail":
		return authorizer.DecisionDeny, reason, errors.New("nobody answers")
	}
	return authorizer.DecisionNoOpinion, reason, nil
}

type deployment struct{}

func (deployment) GetName() string        { return "web" }
func (deployment) GetNamespace() string   { return "shop" }
func (deployment) GetSubresource() string { return "scale" }
func (deployment) GetResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
}

func numbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if whole, err := v.Int64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return whole
		}
		float, _ := v.Float64()
		return float
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return value
}

// show writes a value so that Python can write it the same.
func show(value ref.Val) string {
	switch v := value.(type) {
	case types.Bool:
		return fmt.Sprintf("%v", bool(v))
	case types.Int:
		return fmt.Sprintf("%d", int64(v))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case types.Double:
		return fmt.Sprintf("double %v", float64(v))
	case types.String:
		told, _ := json.Marshal(string(v))
		return string(told)
	case types.Bytes:
		return fmt.Sprintf("bytes %x", []byte(v))
	case types.Null:
		return "null"
	case types.Duration:
		return fmt.Sprintf("duration %d", v.Duration.Nanoseconds())
	case types.Timestamp:
		return fmt.Sprintf("timestamp %s", v.Time.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"))
	case *types.Optional:
		if v.HasValue() {
			return "optional(" + show(v.GetValue()) + ")"
		}
		return "optional()"
	case traits.Lister:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, show(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			parts = append(parts, show(key)+": "+show(v.Get(key)))
		}
		sortStrings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case ref.Type:
		return "type " + v.TypeName()
	}
	return value.Type().TypeName()
}

func sortStrings(parts []string) {
	for i := range parts {
		for j := i; j > 0 && parts[j] < parts[j-1]; j-- {
			parts[j], parts[j-1] = parts[j-1], parts[j]
		}
	}
}
