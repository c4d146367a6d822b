import type { ExportFormat } from '../../queries/export_schedules'

export interface ExportChoice {
  format: ExportFormat
  period: string
  from: string
  until: string
  project: string
  center: string
  version: string
  level: string
  last_entry: string
}

/** A path with those parameters that are given. */
export function addressOf(path: string, parameters: Partial<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter((pair): pair is [string, string] => Boolean(pair[1]))).toString()
  return query ? `${path}?${query}` : path
}

export function isApel(format: ExportFormat): boolean {
  return format === 'apel' || format === 'apel-summary'
}

/** Whether `last_entry` makes an export the same to the byte. */
export function isOfLedger(format: ExportFormat): boolean {
  return format === 'focus' || format === 'jsonl' || format === 'ledger'
}

/** Where an export is had from: only the parameters that its format knows. */
export function exportAddress(choice: ExportChoice): string {
  return addressOf(`/api/v1/exports/${choice.format}`, {
    period: choice.period, from: choice.from, until: choice.until, project: choice.project, center: choice.center,
    ...(choice.format === 'focus' && choice.version !== '1.2' ? { version: choice.version } : {}),
    ...(isApel(choice.format) ? { service_level_type: choice.level } : {}),
    ...(isOfLedger(choice.format) ? { last_entry: choice.last_entry } : {}),
  })
}

const endings: Record<ExportFormat, string> = { focus: 'csv', jsonl: 'jsonl', ledger: 'jsonl', apel: 'txt', 'apel-summary': 'txt', sacct: 'txt' }

export function exportName(choice: ExportChoice): string {
  return `${choice.format}${choice.period ? `-${choice.period}` : ''}.${endings[choice.format]}`
}
