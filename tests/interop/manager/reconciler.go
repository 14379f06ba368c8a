package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	finalizer = "interop.example.com/farewell"
	byOwner   = "metadata.controller"
	byTone    = "spec.tone"
)

// reconciler keeps the copies of greetings, reading from the manager's cache alone.
type reconciler struct {
	client.Client
	events events.EventRecorder
}

func (r *reconciler) setUp(ctx context.Context, manager ctrl.Manager) error {
	indexer := manager.GetFieldIndexer()
	if err := indexer.IndexField(ctx, &corev1.ConfigMap{}, byOwner, ownerOf); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &Greeting{}, byTone, toneOf); err != nil {
		return err
	}
	// Of Secrets only the metadata is watched: it is all that is asked for.
	return ctrl.NewControllerManagedBy(manager).
		For(&Greeting{}).
		Owns(&corev1.ConfigMap{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.withTone), builder.OnlyMetadata).
		Complete(r)
}

func ownerOf(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "Greeting" {
		return []string{owner.Name}
	}
	return nil
}

func toneOf(object client.Object) []string {
	return []string{object.(*Greeting).Spec.Tone}
}

func (r *reconciler) withTone(ctx context.Context, secret client.Object) []reconcile.Request {
	var concerned GreetingList
	if err := r.List(ctx, &concerned, client.InNamespace(secret.GetNamespace()),
		client.MatchingFields{byTone: secret.GetName()}); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for _, greeting := range concerned.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&greeting)})
	}
	return requests
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var greeting Greeting
	if err := r.Get(ctx, request.NamespacedName, &greeting); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !greeting.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.sayFarewell(ctx, &greeting)
	}
	if controllerutil.AddFinalizer(&greeting, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &greeting)
	}
	tone, err := r.versionOf(ctx, request.Namespace, greeting.Spec.Tone)
	if err != nil {
		return ctrl.Result{}, err
	}
	for number := range greeting.Spec.Copies {
		if err := r.keepCopy(ctx, &greeting, number, tone); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.deleteCopies(ctx, &greeting, greeting.Spec.Copies); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.tellStatus(ctx, &greeting)
}

func (r *reconciler) versionOf(ctx context.Context, namespace, tone string) (string, error) {
	if tone == "" {
		return "", nil
	}
	secret := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
	err := r.Get(ctx, types.NamespacedName{Namespace: namespace, Name: tone}, &secret)
	return secret.ResourceVersion, client.IgnoreNotFound(err)
}

func (r *reconciler) keepCopy(ctx context.Context, greeting *Greeting, number int, tone string) error {
	name := fmt.Sprintf("%s-%d", greeting.Name, number)
	copy := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: greeting.Namespace, Name: name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, &copy, func() error {
		copy.Data = map[string]string{"text": greeting.Spec.Text, "tone": tone}
		return controllerutil.SetControllerReference(greeting, &copy, r.Scheme())
	})
	return err
}

// deleteCopies deletes the copies of a greeting but for the first few.
func (r *reconciler) deleteCopies(ctx context.Context, greeting *Greeting, kept int) error {
	var copies corev1.ConfigMapList
	if err := r.List(ctx, &copies, client.InNamespace(greeting.Namespace),
		client.MatchingFields{byOwner: greeting.Name}); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for number := range kept {
		wanted[fmt.Sprintf("%s-%d", greeting.Name, number)] = true
	}
	for _, copy := range copies.Items {
		if !wanted[copy.Name] {
			if err := r.Delete(ctx, &copy); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reconciler) tellStatus(ctx context.Context, greeting *Greeting) error {
	before := greeting.DeepCopyObject().(*Greeting)
	greeting.Status.Copies = greeting.Spec.Copies
	changed := meta.SetStatusCondition(&greeting.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Said", Message: greeting.Spec.Text,
		ObservedGeneration: greeting.Generation,
	})
	if !changed && before.Status.Copies == greeting.Status.Copies {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Status().Patch(ctx, greeting, patch); err != nil {
		return err
	}
	r.events.Eventf(greeting, nil, corev1.EventTypeNormal, "Said", "Say", "%d copies", greeting.Status.Copies)
	report("reconciled", greeting.Name)
	return nil
}

func (r *reconciler) sayFarewell(ctx context.Context, greeting *Greeting) error {
	if err := r.deleteCopies(ctx, greeting, 0); err != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(greeting, finalizer) {
		return nil
	}
	if err := r.Update(ctx, greeting); err != nil {
		return client.IgnoreNotFound(err)
	}
	report("farewell", greeting.Name)
	return nil
}
