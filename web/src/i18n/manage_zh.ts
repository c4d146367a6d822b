import { accountsZh } from '../features/accounts/text.zh'
import { auditZh } from '../features/audit_log/text.zh'
import { authorityZh } from '../features/authority/text.zh'
import { balanceZh } from '../features/balance/text.zh'
import { billingZh } from '../features/billing/text.zh'
import { calendarZh } from '../features/calendar/text.zh'
import { cyclesZh } from '../features/cycles/text.zh'
import { qualityZh } from '../features/prediction_quality/text.zh'
import { pricesZh } from '../features/prices/text.zh'
import { projectsZh } from '../features/projects/text.zh'
import { settingsZh } from '../features/settings/text.zh'
import { sharedGpusZh } from '../features/shared_gpus/text.zh'
import { simulationZh } from '../features/simulation/text.zh'
import { subUnitsZh } from '../features/sub_units/text.zh'
import { unitTypesZh } from '../features/unit_types/text.zh'
import { formsZh } from '../ui/forms/text.zh'

export const manageZh = {
  ...formsZh, ...unitTypesZh, ...sharedGpusZh, ...subUnitsZh, ...simulationZh, ...cyclesZh, ...balanceZh, ...qualityZh, ...projectsZh, ...calendarZh, ...pricesZh, ...billingZh, ...accountsZh, ...auditZh, ...authorityZh, ...settingsZh,
}
