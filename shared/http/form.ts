/** Forms as browsers send them (application/x-www-form-urlencoded), whoever wrote them. */

/**
 * Returns the fields of a form. Browsers write each with a `=`. Others are left out, because the time in
 * which Node reads them grows with the square of their number.
 */
export function formFieldsIn(text: string): URLSearchParams {
  const fields = text.split('&').filter((field) => field.includes('='))
  return new URLSearchParams(fields.join('&'))
}
