/**
 * Template of one request with secrets in it, as an agent writes it: the request, and where each secret
 * belongs. It names secrets and never contains them. No secret may stand in the URL: servers log addresses,
 * browsers keep them in histories and send them on as referrers. A sign-in link is the exception, because
 * its address is itself a secret: it replaces the path.
 */
import * as z from 'zod'
import * as form from '../contract/forms.ts'

const bodyCharactersMax = 65_536

/** `totp` is the current code, `mail.HANDLE` the code of a mail. */
const secretName = z
  .string()
  .max(80)
  .regex(
    /^(password|previous_password(_[23])?|totp|username|fields\.[A-Za-z][A-Za-z0-9_-]{0,63}|mail\.c_[0-9a-z]{12})$/,
    'password, previous_password, totp, username, fields.NAME or mail.HANDLE',
  )

const mailName = z
  .string()
  .max(19)
  .regex(/^mail\.c_[0-9a-z]{12}$/, 'mail.HANDLE')

/** A token (RFC 9110 section 5.6.2). */
const headerName = z
  .string()
  .max(64)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, 'the name of a header')

/** A field value (RFC 9110 section 5.5) in ASCII alone: clients disagree on how to send anything else. */
const headerValue = z
  .string()
  .max(2048)
  .regex(/^[\t\x20-\x7e]*$/, 'printable ASCII')

/** Schema for the name of a form field. */
export const formField = form.words(256).min(1)

/** Schema for a path on the entry's site, with its query. */
export const sitePath = z
  .string()
  .max(2048)
  .regex(
    /^\/([\x21-\x2e\x30-\x5b\x5d-\x7e][\x21-\x5b\x5d-\x7e]*)?$/,
    'a path of the site, which begins with one / and is written in ASCII without spaces',
  )

/** Schema for the form fields that are not secret, by their names. */
export const plainFields = z
  .record(formField, form.words(bodyCharactersMax))
  .refine((fields) => Object.keys(fields).length <= 64, 'at most 64 fields')

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
      .regex(/^(\/([^~/]|~[01])+){1,8}$/, 'a pointer such as /user/password')
      .describe('RFC 6901, such as /user/password.'),
    secret: secretName,
  }),
  z
    .strictObject({ where: z.literal('link'), secret: mailName })
    .describe('Opens a sign-in link of a mail, in place of path.'),
])

/** Schema for one request to the entry's own site. */
export const requestTemplate = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: sitePath.optional().describe('Path and query on the site; it can hold no secret.'),
  headers: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= 32, 'at most 32 headers')
    .optional(),
  form: plainFields.optional().describe('Fields that are not secret.'),
  json: z
    .record(form.words(bodyCharactersMax), z.unknown())
    .refine((value) => JSON.stringify(value).length <= bodyCharactersMax, 'too long')
    .optional()
    .describe('Members that are not secret.'),
  inject: z
    .array(injection)
    .min(1)
    .max(8)
    .describe(
      'Secrets: password, previous_password, totp, username, fields.NAME, or mail.HANDLE of a mail.',
    ),
})

/** A template after parsing. */
export type RequestTemplate = z.output<typeof requestTemplate>

/** Position of one secret in a template. */
export type Injection = RequestTemplate['inject'][number]

/** Returns the handles of the mail codes that a template names, each once. */
export function handlesNamed({ inject }: RequestTemplate): string[] {
  const names = inject.flatMap((place) => (place.where === 'basic' ? [] : place.secret))
  return [...new Set(names.flatMap((name) => /^mail\.(.+)$/.exec(name)?.[1] ?? []))]
}
