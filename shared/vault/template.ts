/**
 * The template of one request with secrets in it, as an agent writes it: the request without them,
 * and where each belongs. A secret is named, never written, and there is no place for one in the URL:
 * addresses are logged by servers, kept in histories and sent on as referrers.
 */
import * as z from 'zod'

const bodyCharactersMax = 65_536

/** `password`, `totp` for the code of the moment, `username`, or `fields.NAME`. */
const secretName = z
  .string()
  .regex(/^(password|totp|username|fields\.[A-Za-z][A-Za-z0-9_-]{0,63})$/)
  .describe('password, totp, username or fields.NAME.')

/** RFC 9110 section 5.6.2: a token. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/)

/** RFC 9110 section 5.5 without what is not ASCII, which no client sends alike. */
const headerValue = z
  .string()
  .max(2048)
  .regex(/^[\t\x20-\x7e]*$/)

const formField = z.string().min(1).max(256)

const injection = z.discriminatedUnion('where', [
  z.strictObject({
    where: z.literal('header'),
    name: headerName,
    secret: secretName,
    prefix: headerValue.max(64).optional().describe('Stands before the secret, such as "Token ".'),
  }),
  z.strictObject({ where: z.literal('basic') }).describe('RFC 7617: user name and password.'),
  z.strictObject({ where: z.literal('bearer'), secret: secretName }).describe('RFC 6750.'),
  z.strictObject({ where: z.literal('form_field'), name: formField, secret: secretName }),
  z.strictObject({
    where: z.literal('json_field'),
    pointer: z
      .string()
      .max(512)
      .regex(/^(\/([^~/]|~[01])+){1,8}$/)
      .describe('RFC 6901 pointer to a member of objects, such as /user/password.'),
    secret: secretName,
  }),
])

/** One request to the entry's own site. */
export const requestTemplate = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z
    .string()
    .max(2048)
    .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/)
    .describe('Path and query on the site; it can hold no secret.'),
  headers: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= 32, 'at most 32 headers')
    .optional(),
  form: z
    .record(formField, z.string().max(bodyCharactersMax))
    .refine((fields) => Object.keys(fields).length <= 64, 'at most 64 fields')
    .optional()
    .describe('Fields that are not secret.'),
  json: z
    .record(z.string(), z.json())
    .refine((value) => JSON.stringify(value).length <= bodyCharactersMax, 'too long')
    .optional()
    .describe('Members that are not secret.'),
  inject: z.array(injection).min(1).max(8),
})

/** A template that was read. */
export type RequestTemplate = z.output<typeof requestTemplate>

/** One place of a secret. */
export type Injection = RequestTemplate['inject'][number]
