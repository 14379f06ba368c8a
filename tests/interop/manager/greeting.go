package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var version = schema.GroupVersion{Group: "interop.example.com", Version: "v1"}

// Greeting wants its text in as many ConfigMaps as it says.
type Greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GreetingSpec   `json:"spec,omitempty"`
	Status GreetingStatus `json:"status,omitempty"`
}

type GreetingSpec struct {
	Text   string `json:"text"`
	Copies int    `json:"copies"`
	// Tone is the name of a Secret; the copies say which of its versions they were made with.
	Tone string `json:"tone,omitempty"`
}

type GreetingStatus struct {
	Copies     int                `json:"copies"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type GreetingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Greeting `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(version, &Greeting{}, &GreetingList{})
	metav1.AddToGroupVersion(scheme, version)
}

func (from *Greeting) DeepCopyObject() runtime.Object {
	to := *from
	from.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	to.Status.Conditions = nil
	for _, condition := range from.Status.Conditions {
		to.Status.Conditions = append(to.Status.Conditions, *condition.DeepCopy())
	}
	return &to
}

func (from *GreetingList) DeepCopyObject() runtime.Object {
	to := GreetingList{TypeMeta: from.TypeMeta}
	from.ListMeta.DeepCopyInto(&to.ListMeta)
	for index := range from.Items {
		to.Items = append(to.Items, *from.Items[index].DeepCopyObject().(*Greeting))
	}
	return &to
}
