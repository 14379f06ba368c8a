// Informer follows what happens to one namespace with client-go, as the controllers of Kubernetes do: a typed
// clientset that sends protobuf, a shared informer with its reflector, and a lister.
//
// It prints one JSON object a line: {"event":"synced"} when its cache is full, then {"event":"add","kind":...,
// "name":...} and so on. It obeys commands from its standard input, one a line:
//
//	create NAME     creates a ConfigMap, a Pod and a Deployment
//	label NAME      updates the ConfigMap, again and again until it does not conflict
//	scale NAME N    writes the Deployment's scale
//	status NAME     writes the Pod's status: Running
//	list            prints how many of each kind the listers have
//	delete NAME     deletes all three
//
// and says {"event":"done"} or {"event":"failed","error":...} after each. It ends with its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

const protobuf = "application/vnd.kubernetes.protobuf"

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, namespace string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = protobuf
	config.AcceptContentTypes = protobuf + ",application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"ConfigMap":  factory.Core().V1().ConfigMaps().Informer(),
		"Pod":        factory.Core().V1().Pods().Informer(),
		"Deployment": factory.Apps().V1().Deployments().Informer(),
	} {
		if _, err := informer.AddEventHandler(reporter(kind)); err != nil {
			return err
		}
	}
	factory.StartWithContext(ctx)
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("the cache of %v was never full", kind)
		}
	}
	report(map[string]any{"event": "synced"})
	obey(ctx, &worker{client, factory, namespace})
	return nil
}

func obey(ctx context.Context, worker *worker) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := worker.do(ctx, strings.Fields(lines.Text())); err != nil {
			report(map[string]any{"event": "failed", "error": err.Error()})
			continue
		}
		report(map[string]any{"event": "done"})
	}
}

type worker struct {
	client    kubernetes.Interface
	factory   informers.SharedInformerFactory
	namespace string
}

func (w *worker) do(ctx context.Context, words []string) error {
	switch words[0] {
	case "create":
		return w.create(ctx, words[1])
	case "label":
		return w.label(ctx, words[1])
	case "scale":
		return w.scale(ctx, words[1], words[2])
	case "status":
		return w.status(ctx, words[1])
	case "list":
		return w.list()
	case "delete":
		return w.delete(ctx, words[1])
	}
	return fmt.Errorf("unknown command %q", words[0])
}

func (w *worker) create(ctx context.Context, name string) error {
	about := metav1.ObjectMeta{Name: name}
	chosen := map[string]string{"app": name}
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox:1.37"}}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: chosen}, Spec: spec}
	_, first := w.client.CoreV1().ConfigMaps(w.namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: about, Data: map[string]string{"text": "hello"}, BinaryData: map[string][]byte{"raw": {0, 255}},
	}, metav1.CreateOptions{FieldManager: "informer"})
	_, second := w.client.CoreV1().Pods(w.namespace).Create(ctx, &corev1.Pod{ObjectMeta: about, Spec: spec}, metav1.CreateOptions{})
	_, third := w.client.AppsV1().Deployments(w.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: about,
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: chosen}, Template: template},
	}, metav1.CreateOptions{})
	return errors.Join(first, second, third)
}

func (w *worker) label(ctx context.Context, name string) error {
	configMaps := w.client.CoreV1().ConfigMaps(w.namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := configMaps.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		metav1.SetMetaDataLabel(&found.ObjectMeta, "labelled", "yes")
		_, err = configMaps.Update(ctx, found, metav1.UpdateOptions{})
		return err
	})
}

func (w *worker) scale(ctx context.Context, name, replicas string) error {
	count, err := strconv.ParseInt(replicas, 10, 32)
	if err != nil {
		return err
	}
	deployments := w.client.AppsV1().Deployments(w.namespace)
	scale, err := deployments.GetScale(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = int32(count)
	_, err = deployments.UpdateScale(ctx, name, scale, metav1.UpdateOptions{})
	return err
}

func (w *worker) status(ctx context.Context, name string) error {
	pods := w.client.CoreV1().Pods(w.namespace)
	found, err := pods.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	found.Status.Phase = corev1.PodRunning
	_, err = pods.UpdateStatus(ctx, found, metav1.UpdateOptions{})
	return err
}

func (w *worker) list() error {
	configMaps, first := w.factory.Core().V1().ConfigMaps().Lister().List(labels.Everything())
	pods, second := w.factory.Core().V1().Pods().Lister().List(labels.Everything())
	deployments, third := w.factory.Apps().V1().Deployments().Lister().List(labels.Everything())
	report(map[string]any{
		"event": "list", "configmaps": len(configMaps), "pods": len(pods), "deployments": len(deployments),
	})
	return errors.Join(first, second, third)
}

func (w *worker) delete(ctx context.Context, name string) error {
	policy := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &policy}
	return errors.Join(
		w.client.CoreV1().ConfigMaps(w.namespace).Delete(ctx, name, options),
		w.client.CoreV1().Pods(w.namespace).Delete(ctx, name, options),
		w.client.AppsV1().Deployments(w.namespace).Delete(ctx, name, options),
	)
}

func reporter(kind string) cache.ResourceEventHandler {
	tell := func(event string, object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		about, err := meta.Accessor(object)
		if err != nil {
			report(map[string]any{"event": "failed", "error": err.Error()})
			return
		}
		report(map[string]any{"event": event, "kind": kind, "name": about.GetName(), "labels": about.GetLabels()})
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell("add", object) },
		UpdateFunc: func(_, object any) { tell("update", object) },
		DeleteFunc: func(object any) { tell("delete", object) },
	}
}

var printing sync.Mutex

func report(what map[string]any) {
	printing.Lock()
	defer printing.Unlock()
	json.NewEncoder(os.Stdout).Encode(what)
}
