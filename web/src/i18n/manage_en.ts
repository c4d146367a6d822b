// The texts of the pages of the groups Network, Accounts and Administer that have features of their own.
import { accountsEn } from '../features/accounts/text.en'
import { auditEn } from '../features/audit_log/text.en'
import { authorityEn } from '../features/authority/text.en'
import { balanceEn } from '../features/balance/text.en'
import { billingEn } from '../features/billing/text.en'
import { calendarEn } from '../features/calendar/text.en'
import { cyclesEn } from '../features/cycles/text.en'
import { qualityEn } from '../features/prediction_quality/text.en'
import { pricesEn } from '../features/prices/text.en'
import { projectsEn } from '../features/projects/text.en'
import { settingsEn } from '../features/settings/text.en'
import { sharedGpusEn } from '../features/shared_gpus/text.en'
import { simulationEn } from '../features/simulation/text.en'
import { subUnitsEn } from '../features/sub_units/text.en'
import { unitTypesEn } from '../features/unit_types/text.en'
import { formsEn } from '../ui/forms/text.en'

export const manageEn = {
  ...formsEn, ...unitTypesEn, ...sharedGpusEn, ...subUnitsEn, ...simulationEn, ...cyclesEn, ...balanceEn, ...qualityEn, ...projectsEn, ...calendarEn, ...pricesEn, ...billingEn, ...accountsEn, ...auditEn, ...authorityEn, ...settingsEn,
}
