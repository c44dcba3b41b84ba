// Presents the billing settings as fields of a form (contract 7.101). In the form, amounts are decimals, and tax rules and plans
// are rows of a table.
import { z } from 'zod';
import { minorDigits } from '../../basics/currencies.ts';
import { AppError, type FieldError, writePointer } from '../../basics/errors.ts';
import { findCountryByName, nameCountry, readCountry } from '../values/countries.ts';
import { readDecimal, writeDigits } from '../values/decimals.ts';
import {
  type BillingSettings,
  type FormField,
  type FormTable,
  formFields,
  formTables,
  otherCountries,
  readSettings,
  settingsSchema,
  type WrittenSettings,
} from './settings.ts';

export type Fields = Record<string, string>;

type Schema = z.core.$ZodType;
type Path = (string | number)[];
type Table = FormTable & { columns: FormField[] };

/** A field of the form. `path` leads to its value in the settings. For the name of a plan, it leads to the plan. */
type Place = Omit<FormField, 'name'> & { name: string; schema: Schema; path: Path };

type Walk = {
  visit: (place: Place) => unknown;
  /** Returns the key in the settings and the number in the form, for each row of a table. */
  rowsOf: (table: Table, path: Path) => [key: string, row: number][];
};

/** Visits each field of the form. The result has the shape of the settings, with the results of `visit` as its values. */
function walk(walked: Walk, schema: Schema = settingsSchema, path: Path = [], suffix = ''): unknown {
  const enter = (each: Schema, name: string | number, inRow = suffix) =>
    walk(walked, each, [...path, name], inRow);
  const field = formFields.get(schema);
  if (field) return walked.visit({ ...field, name: field.name + suffix, schema, path });
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries<Schema>(schema.shape).map(([name, each]) => [name, enter(each, name)]),
    );
  if (schema instanceof z.ZodTuple) return (schema.def.items as Schema[]).map((each, at) => enter(each, at));
  const table = formTables.get(schema);
  const isRecord = schema instanceof z.ZodRecord;
  if (!table || !(isRecord || schema instanceof z.ZodArray))
    throw new Error(`no field of the form for ${writePointer(path)}`);
  const [keys, row] = isRecord ? [[schema.keyType], schema.valueType] : [[], schema.element];
  const cells: Schema[] = [...keys, ...Object.values<Schema>((row as z.ZodObject).shape)];
  const columns = cells.flatMap((each) => formFields.get(each) ?? []);
  const rows = walked.rowsOf({ ...table, columns }, path).map(([key, number]) => {
    for (const each of keys) enter(each, key, `-${number}`);
    return [key, enter(row as Schema, key, `-${number}`)] as const;
  });
  return isRecord ? Object.fromEntries(rows) : rows.map(([, each]) => each);
}

type ShownField = Omit<Place, 'schema' | 'path'> & { isOptional: boolean };

/** Returns each section of the form, as lines of fields and as tables. */
export function describeSettingsForm() {
  const sections: Record<string, { fields: ShownField[]; table?: Table }[]> = {};
  const partsOf = (section: unknown) => (sections[String(section)] ??= []);
  walk({
    visit({ schema, path, ...field }) {
      const parts = partsOf(field.section ?? path[0]);
      if (!field.isBeside) parts.push({ fields: [] });
      parts.at(-1)?.fields.push({ ...field, isOptional: isOptional(schema) });
    },
    rowsOf(table, path) {
      partsOf(path[0]).push({ fields: [], table });
      return [];
    },
  });
  return sections;
}

const isOptional = (schema: Schema) => schema._zod.optin === 'optional';

/** Makes the first letter small. Does not change labels such as IBAN. */
const writeInText = (label: string) => label.replace(/^[A-Z](?![A-Z])/, (first) => first.toLowerCase());

/** The name of each member in the list of changes. Keys look like `seller.iban`. */
export const memberNames: Record<string, string> = Object.fromEntries(
  Object.entries(settingsSchema.shape).flatMap(([part, schema]) =>
    Object.entries<z.ZodType>('shape' in schema ? schema.shape : {}).map(([name, member]) => [
      `${part}.${name}`,
      member.description ?? writeInText(formFields.get(member)?.label ?? name),
    ]),
  ),
);

/** Without settings, the fields have their default values. */
export function writeSettingsForm(settings: WrittenSettings | undefined): Fields {
  const fields: Fields = {};
  walk({
    visit(place) {
      fields[place.name] = settings ? writeValue(settings, place) : (place.usual ?? '');
    },
    rowsOf: (_, path) => Object.keys(findAt(settings, path) ?? {}).map((key, at) => [key, at + 1]),
  });
  return fields;
}

const findAt = (value: unknown, path: Path): unknown =>
  path.reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);

function writeValue(settings: WrittenSettings, place: Place): string {
  const value = findAt(settings, place.path);
  if (typeof value === 'number') return writeDigits(value, digitsOf(place, settings.seller.currency));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (place.countries) return value === '*' ? otherCountries : nameCountry(String(value));
  // An optional choice that is left out means its default value.
  return String((typeof value === 'object' ? place.path.at(-1) : value) ?? place.usual ?? '');
}

const digitsOf = ({ digits = 0 }: Place, currency: string): number =>
  digits === 'of the currency' ? minorDigits(currency) : digits;

/** A text that cannot be read stays a text, so that the schema refuses it. */
function readValue(place: Place, typed: string, currency: string): unknown {
  const { schema, digits, countries } = place;
  const text = isOptional(schema) ? typed.trim() : typed;
  if (countries)
    return isSameText(text, otherCountries) ? '*' : (findCountryByName(text) ?? readCountry(text) ?? text);
  if (text === '' && isOptional(schema)) return undefined;
  if (place.options?.yes) return text === 'yes' ? true : text === 'no' ? false : text;
  if (digits === undefined) return text;
  return readDecimal(text, digitsOf(place, currency)) ?? text;
}

const isSameText = (one: string, other: string) => one.trim().toLowerCase() === other.toLowerCase();

/** In the result, `places` says for each JSON pointer into `json` from which field of the form the value comes. */
function readForm(fields: Fields) {
  const places = new Map<string, Place>();
  const errors: FieldError[] = [];
  const currency = (fields.currency ?? '').trim();
  const json = walk({
    visit(place) {
      places.set(writePointer(place.path), place);
      return readValue(place, fields[place.name] ?? '', currency);
    },
    rowsOf({ name, columns }) {
      const rows = listRows(fields, columns);
      if (name === 'rules') return rows.map((row, at) => [String(at), row]);
      const plans = new Map<string, number>();
      for (const row of rows) {
        const plan = (fields[`plan-${row}`] ?? '').trim();
        if (plans.has(plan)) errors.push({ pointer: `/plan-${row}`, detail: 'Another row has this plan.' });
        else plans.set(plan, row);
      }
      return [...plans];
    },
  });
  return { json, places, errors, currency };
}

/** Returns the numbers of the rows in which something is typed. Choices are ignored, because an empty row may have a choice. */
function listRows(fields: Fields, columns: FormField[]): number[] {
  const names: string[] = columns.filter(({ options }) => !options).map(({ name }) => name);
  const numbers = Object.entries(fields).flatMap(([field, value]) => {
    const [name = '', number] = field.split('-');
    return number !== undefined && names.includes(name) && value.trim() ? [Number(number)] : [];
  });
  return [...new Set(numbers)].sort((one, other) => one - other);
}

/**
 * Returns a pointer to the form's field, for a pointer into the settings. The pointers `/rules` and `/plans` are for whole
 * tables.
 */
export const nameSettingsField = (fields: Fields, pointer: string): string =>
  nameField(readForm(fields).places, pointer);

function nameField(places: Map<string, Place>, pointer: string): string {
  const whole = pointer.startsWith('/tax/rules') ? 'rules' : pointer.split('/')[1];
  return `/${places.get(pointer)?.name ?? whole}`;
}

/** Throws 422 `validation_failed` with all faults. The pointers of the faults name fields of the form. */
export function readSettingsForm(fields: Fields): BillingSettings {
  const { json, places, errors, currency } = readForm(fields);
  try {
    const settings = readSettings(json);
    if (errors.length === 0) return settings;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    errors.push(
      ...error.errors.map(({ pointer, detail }) => {
        const place = places.get(pointer);
        const isNone =
          place?.fault &&
          !z.safeParse(place.schema, readValue(place, fields[place.name] ?? '', currency)).success;
        return { pointer: nameField(places, pointer), detail: (isNone && place.fault) || detail };
      }),
    );
  }
  throw new AppError('validation_failed', { errors });
}
