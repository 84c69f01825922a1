/**
 * The type of the values a JSON Schema describes, read from the schema's own type: one built with TypeBox, or one written
 * as a literal. What the type does not tell is `unknown`.
 */
export type SchemaType<Schema> = Schema extends { readonly "~unsafe": infer Type }
  ? Type
  : Schema extends { readonly const: infer Constant }
    ? Constant
    : Schema extends { readonly enum: readonly (infer Choice)[] }
      ? Choice
      : Schema extends { readonly anyOf: readonly (infer Branch)[] }
        ? SchemaType<Branch>
        : Schema extends { readonly allOf: infer Schemas }
          ? Both<Schemas>
          : Schema extends { readonly type: "object"; readonly properties: infer Properties }
            ? Flat<ObjectType<Properties, RequiredNames<Schema>>>
            : Schema extends { readonly patternProperties: Readonly<Record<string, infer Value>> }
              ? Record<string, SchemaType<Value>>
              : Schema extends { readonly type: "array"; readonly items: infer Items }
                ? ListType<Items>
                : Schema extends { readonly type: keyof Primitives }
                  ? Primitives[Schema["type"]]
                  : unknown;

/** The optional properties of a type are those that its schema does not require. */
type RequiredNames<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

type ObjectType<Properties, Required> = {
  -readonly [Name in keyof Properties as Name extends Required ? Name : never]: SchemaType<Properties[Name]>;
} & {
  -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: SchemaType<Properties[Name]>;
};

type Flat<T> = { [K in keyof T]: T[K] };

type Both<Schemas> = Schemas extends readonly [infer First, ...infer Rest] ? SchemaType<First> & Both<Rest> : unknown;

type ListType<Items> = Items extends readonly unknown[]
  ? { -readonly [K in keyof Items]: SchemaType<Items[K]> }
  : SchemaType<Items>[];

interface Primitives {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  null: null;
}
