// What a room says about its controls; everything else about a field comes from the server.
//
// SPDX-License-Identifier: Apache-2.0
import type { Field } from './contract';
import { usual_track, type Track } from './slider';

export interface ControlPlan {
  name: string;
  label?: string; // where the name of its symbol would be taken for another control
  track?: Track | null; // null: no slider
  at_rest?: number; // where the slider stands while the field is empty
  choices?: string[]; // of free texts: examples to choose from
}

export function is_number(field: Field): boolean {
  return field.kind === 'number' || field.kind === 'whole';
}

export function track_of(field: Field, plan: ControlPlan | undefined): Track | null {
  if (plan?.track !== undefined) return plan.track;
  const { least, most } = field;
  const has_range = least !== undefined && most !== undefined && most <= 1e6;
  if (!is_number(field) || !has_range || field.default === null) return null;
  return usual_track(least, most, field.kind === 'whole');
}

/** Fields a room shows first, in its order, and the rest of the table. */
export function arranged(
  fields: readonly Field[],
  plans: readonly ControlPlan[],
  hidden: readonly string[],
): { first: Field[]; more: Field[] } {
  const planned = plans.map(({ name }) => name);
  return {
    first: planned.flatMap((name) => fields.filter((field) => field.name === name)),
    more: fields.filter(({ name }) => !planned.includes(name) && !hidden.includes(name)),
  };
}
