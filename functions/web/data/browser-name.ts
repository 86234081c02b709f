/** A browser and its system in two words, as far as it tells; what it says of itself proves nothing. */

const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b((Headless)?Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: [RegExp, string][] = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

export function browserName(userAgent: string): string {
  const named = (list: [RegExp, string][]) => list.find(([form]) => form.test(userAgent))?.[1]
  const [browser, system] = [named(browsers), named(systems)]
  if (!browser) return userAgent.slice(0, 40) || 'Unknown'
  return system ? `${browser} on ${system}` : browser
}
