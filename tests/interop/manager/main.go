// Manager is an operator written with controller-runtime, in the shape that most operators have: a manager with leader
// election, a cache with indexes, and a reconciler with a finalizer, owned objects, events and a status.
//
// It finds its cluster by KUBECONFIG, works in one namespace (-namespace) or in all of them, and prints one JSON object
// a line: {"event":"leading"}, {"event":"reconciled","name":...}, {"event":"farewell","name":...}. It ends when it is
// told to by a signal.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	namespace := flag.String("namespace", "", "the only namespace to work in")
	lease := flag.String("lease", "greetings", "the Lease by which one of several leads")
	flag.Parse()
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	if err := run(ctrl.SetupSignalHandler(), *namespace, *lease); err != nil {
		ctrl.Log.Error(err, "the manager ended")
		os.Exit(1)
	}
}

func run(ctx context.Context, namespace, lease string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, options(namespace, lease))
	if err != nil {
		return err
	}
	reconciler := &reconciler{Client: manager.GetClient(), events: manager.GetEventRecorder("greetings")}
	if err := reconciler.setUp(ctx, manager); err != nil {
		return err
	}
	go func() {
		<-manager.Elected()
		report("leading", "")
	}()
	return manager.Start(ctx)
}

func options(namespace, lease string) ctrl.Options {
	types := runtime.NewScheme()
	scheme.AddToScheme(types)
	addToScheme(types)
	duration, deadline, period := 6*time.Second, 4*time.Second, time.Second
	options := ctrl.Options{
		Scheme:                        types,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              lease,
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &duration,
		RenewDeadline:                 &deadline,
		RetryPeriod:                   &period,
	}
	if namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return options
}

var printing sync.Mutex

func report(event, name string) {
	printing.Lock()
	defer printing.Unlock()
	said := map[string]string{"event": event}
	if name != "" {
		said["name"] = name
	}
	json.NewEncoder(os.Stdout).Encode(said)
}
