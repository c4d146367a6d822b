import type { Translate } from '../../i18n/language'
import { knownWord } from '../../ui/known_word'

/** The acts that the server records, by name; a newer one may record others. */
export const actions = [
  'account.change', 'account.create', 'account.remove', 'authority.begin', 'authority.cancel',
  'authority.finish', 'authority.switch', 'billing_period.close', 'center.drain', 'center.enrol',
  'center.probe_share', 'center.quarantine', 'center.release', 'center.renew_certificate', 'center.resources',
  'center.revoke', 'center.undrain', 'enrolment_token.create', 'enrolment_token.withdraw', 'export_schedule.change',
  'export_schedule.create', 'export_schedule.remove', 'export_schedule.run', 'job.cancel', 'job.list', 'job.read',
  'job.read_cost', 'job.read_events', 'job.read_gpus', 'job.read_operators', 'job.read_output', 'job.read_placement', 'maintenance.cancel', 'maintenance.plan', 'metric_policy.activate', 'metric_policy.create', 'operator.approve', 'operator.change', 'operator.copy', 'operator.reject', 'operator.submit', 'operator.upload',
  'operator.withdraw', 'operator_key.add', 'operator_key.revoke', 'price_book.set', 'probe_finding.dismiss',
  'probe_run.create', 'probe_schedule.change', 'probe_schedule.create', 'probe_schedule.remove', 'probe_task.create',
  'probe_task.release', 'probe_task.retire', 'probe_task.test', 'project.change', 'project_member.put',
  'project_member.remove', 'reservation.cancel', 'reservation.create', 'session.close', 'session.open',
  'session.refuse', 'sub_units.cancel', 'sub_units.gain', 'sub_units.release', 'sub_units.undo', 'token.bootstrap',
  'token.create', 'token.revoke', 'unit_type.drift',
] as const

/** An act in the reader's words; null: one that is not known here. */
export function actionText(t: Translate, action: string): string | null {
  const known = knownWord(actions, action)
  return known ? t(`audit.act.${known}`) : null
}
