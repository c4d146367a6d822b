import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { literalsOf } from './sentence'
import { sentencesZh, translateZh } from './zh'

const root = join(fileURLToPath(import.meta.url), '../../../../..')
const folders = ['core', 'server', 'agent', 'schema', 'simulator'].map((name) => join(root, name))

/** The texts of all sources; what the compiler joins, and a string literal's escapes, is as it is said. */
function said(): string {
  const texts = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).map(String)
    .filter((name) => /\.[ch]pp$/.test(name)).map((name) => readFileSync(join(folder, name), 'utf8')))
  return texts.join('\n').replace(/"\s+"/g, '').replace(/\\(["\\])/g, '$1').replaceAll('%%', '%')
}

it.runIf(folders.every(existsSync))('every sentence that is translated is one that the server says', () => {
  const sources = said()
  expect(sources.length).toBeGreaterThan(100_000)
  const unsaid = sentencesZh.filter((sentence) => literalsOf(sentence).some((literal) => !sources.includes(literal)))
  expect(unsaid.map(([english]) => english)).toEqual([])
})

/** Sources of explanations: what they say goes to people as it is. */
const explaining = [
  'agent/executor/kubernetes/pod_end.cpp', 'server/identity/rotation_step.cpp',
  'core/decide/balance/regulator.cpp', 'core/decide/routing/route.cpp', 'core/decide/routing/route_filter.cpp', 'core/decide/routing/route_reasons.cpp', 'core/decide/explanation/counterfactual.cpp',
  'core/decide/explanation/nearest_alternative.cpp', 'core/decide/explanation/refusal.cpp', 'core/decide/measurement/advice.cpp',
  'core/decide/prediction/job_split.cpp', 'core/decide/prediction/predict_units.cpp', 'core/decide/prediction/speedup_coefficients.cpp',
  'core/decide/probing/probe_budget.cpp', 'core/schedule/decided_places.cpp', 'core/schedule/joint_trial.cpp', 'core/schedule/plan_rest.cpp',
  'core/schedule/waiting_reason.cpp', 'server/probing/refresh/health_probes.cpp', 'server/probing/orders/run_selection.cpp', 'server/probing/tasks/task_release.cpp',
  'server/probing/findings/verify_run.cpp', 'server/routing/batch/batch_commit.cpp', 'server/routing/batch/batch_gangs.cpp', 'server/routing/batch/batch_plan.cpp',
  'server/routing/batch/batch_preparation.cpp', 'server/routing/batch/batch_read.cpp']

it.runIf(folders.every(existsSync))('what explains a decision is translated', () => {
  const known = sentencesZh.flatMap(literalsOf).join('\n')
  const lacking = explaining.flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8').replace(/^ *\/\/.*$/gm, '').replace(/R"sql\(.*?\)sql"/gs, '').replace(/"\s+"/g, '')
    return [...text.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map((match) => (match[1] ?? '').replace(/\\(["\\])/g, '$1'))
      .filter((said) => /\w+ \w+ \w+/.test(said))
      .filter((said) => said.replaceAll('%%', '%').split(/\{[^}]*\}|%\.\d\w/).some((part) => part.trim() !== '' && !known.includes(part)))
      .map((said) => `${name}: ${said}`)
  })
  expect(lacking).toEqual([])
})

it('each part of a translation is a part of its sentence, and none is lost', () => {
  const names = (text: string) => [...text.matchAll(/\{(\w+)[:}]/g)].map((match) => match[1]).sort()
  expect(sentencesZh.filter(([english, chinese]) => String(names(english)) !== String(names(chinese)))).toEqual([])
})

it('explanations of decisions are told in Chinese', () => {
  expect(translateZh('earliest expected completion: wait 9.09 min, run 0.46 s')).toBe('预计最早完成：等待 9.09 min，运行 0.46 s')
  expect(translateZh('placed at beta/core-large: earliest start; the fastest measured among those; no. 1 of 3 waiting jobs that were decided together, by advantage'))
    .toBe('放置于 beta/core-large：最早开始；其中测得最快；一同决定的 3 个等待作业中的第 1 个，按 advantage 排序')
  expect(translateZh('waits for a unit of alpha/core, free in about 10 min')).toBe('正在等待：alpha/core 的一个单元，约 10 min 后空闲')
  expect(translateZh('alpha/core would win if you asked for the cheapest (4.20 EUR instead of 6.10 EUR, 12 min later)'))
    .toBe('若要求最便宜，alpha/core 会胜出（4.20 EUR 而不是 6.10 EUR，晚 12 min）')
  expect(translateZh('its type\'s profiled run on alpha/core, 10 s (job_1), each part scaled by the ratio of probes, times 0.81, which is what its runs there took of that since'))
    .toBe('同类作业在 alpha/core 上经剖析的运行，10 s（job_1），各部分按探针测得的比例换算，再乘以 0.81，即此后同类作业在那里所用时间与之相比的倍数')
  expect(translateZh('8 units, the knee of its scaling: 16 units would be 12 % slower')).toBe('8 个单元，扩展曲线的拐点：16 个单元会慢 12 %')
})

it('refusals are told in Chinese', () => {
  expect(translateZh('the job has 4 errors')).toBe('作业有 4 处错误')
  expect(translateZh('must be between 1 and 1000000, or "auto"')).toBe('必须在 1 到 1000000 之间，或为 "auto"')
  expect(translateZh('there is no center alfa; there are alpha and beta')).toBe('没有计算中心 alfa；现有 alpha and beta')
  expect(translateZh('no unit type that could run it has 100 units; the largest is alpha/core with 1')).toBe('能运行它的单元类型都没有 100 个单元；最大的是 alpha/core，有 1 个')
  expect(translateZh('has 1 unit, the job needs 100')).toBe('有 1 个单元，作业需要 100 个')
})

it('findings and advice are told in Chinese', () => {
  expect(translateZh('OpenBLAS took this processor for Prescott, whose kernels do not use what it can do.')).toBe('OpenBLAS 把此处理器当作 Prescott，其内核没有用上处理器的能力。')
  expect(translateZh('stopped at its wall-time limit of 1 s')).toBe('达到 1 s 的时间上限而停止')
})

it('ends of probe runs are told in Chinese', () => {
  expect(translateZh('center alpha fell silent while it had the probe')).toBe('计算中心 alpha 在运行该探针测试时失联')
})

it('faults of the audit log are told in Chinese', () => {
  expect(translateZh('act 12, or one before it, was changed')).toBe('第 12 条或其之前的操作已被更改')
  expect(translateZh('the last act is number 9, and the chain ends at 7')).toBe('最后一条操作的编号是 9，而哈希链止于 7')
})

it('checks of files are told in Chinese', () => {
  expect(translateZh('must hold no user and password: sign the URL instead, as object stores do')).toBe('不得包含用户名和密码：请改用签名的 URL，对象存储即如此')
  expect(translateZh('is that of outputs[3], too')).toBe('与 outputs[3] 的相同')
  expect(translateZh('could not be started: staging failed: https://h.example/set: the server answered 503, at the last of 5 tries'))
    .toBe('无法启动：获取输入失败：https://h.example/set：服务器答复 503，第 5 次即最后一次尝试')
  expect(translateZh('staging failed: job:job_1/sum: this center keeps no copy of it, and https://h.example/sum: the server answered 404'))
    .toBe('获取输入失败：job:job_1/sum：此计算中心没有保留其副本，且 https://h.example/sum：服务器答复 404')
  expect(translateZh('job:job_1/sum: there is no such job, or none that you may read')).toBe('job:job_1/sum：没有此作业，或您无权读取')
  // What others say stands in it as it is.
  expect(translateZh('outputs could not be stored: sum to https://h.example/sum: Could not resolve host: h.example'))
    .toBe('无法存储输出：sum 到 https://h.example/sum：Could not resolve host: h.example')
  expect(translateZh('could not be started: cannot start "pw.x" (PATH is /usr/bin:/bin): No such file or directory'))
    .toBe('无法启动：无法执行 "pw.x"（PATH 为 /usr/bin:/bin）：No such file or directory')
  expect(translateZh('the object is an ELF file but not a shared object (ELF type 2, not 3); build it with cc -shared -fPIC'))
    .toBe('该对象是 ELF 文件但不是共享对象（ELF 类型为 2，而不是 3）；请用 cc -shared -fPIC 构建')
})

it('checks of policies and prices are told in Chinese', () => {
  expect(translateZh('the metric policy has 2 errors')).toBe('度量策略有 2 处错误')
  expect(translateZh('gap: nothing covers [0.5, 1)')).toBe('有空缺：没有区间涵盖 [0.5, 1)')
  expect(translateZh('must be 2.147e+09, which the operator\'s formula 2 * m * n * k gives')).toBe('必须为 2.147e+09，即算子公式 2 * m * n * k 的结果')
  expect(translateZh('must be greater than 0')).toBe('必须大于 0')
  expect(translateZh('must be greater than 3, where it begins')).toBe('必须大于其起点 3')
  expect(translateZh('the formula "2 * q" is wrong: it knows no "q"; known are the parameters, log2, ln, sqrt, min and max (at m=1)'))
    .toBe('公式 "2 * q" 有误：不认识 "q"；可用的有参数、log2、ln、sqrt、min 和 max（在 m=1 时）')
  expect(translateZh('alpha/core has a price already, in entries[0]')).toBe('alpha/core 已在 entries[0] 中有价格')
})

it('what Slurm did with a job is told in Chinese', () => {
  expect(translateZh('could not be started: Slurm refuses it: Batch job submission failed: Invalid qos specification'))
    .toBe('无法启动：Slurm 拒绝此作业：Batch job submission failed: Invalid qos specification')
  expect(translateZh('could not be started: Slurm would never start it: QOSNotAllowed')).toBe('无法启动：Slurm 永远不会启动它：QOSNotAllowed')
  expect(translateZh('lost: cancelled in Slurm at the center on n[1-2], not by who submitted it: placed anew'))
    .toBe('已失联：在计算中心的 Slurm 中于 n[1-2] 上被取消，并非由提交者取消：重新放置')
  expect(translateZh('out of memory: Slurm killed it on n1; its units have 1000 bytes; its largest process had 990 B; ask for units with more memory (units.memory_bytes), or for more units'))
    .toBe('内存不足：在 n1 上被 Slurm 终止；其单元有 1000 字节；其最大的进程有 990 B；请要求内存更大的单元（units.memory_bytes）或更多单元')
  expect(translateZh('unit type "batch": no node of partition "long" has the features avx512')).toBe('单元类型 "batch"：分区 "long" 中没有节点具有特性 avx512')
})

it('of several places, each with its reason, no reason swallows the next', () => {
  expect(translateZh('no unit type can run it now: alpha/core: has 1 unit, the job needs 4; beta/core: the center is drained; gamma/core: the center is lost'))
    .toBe('目前没有单元类型能运行它：alpha/core：有 1 个单元，作业需要 4 个；beta/core：计算中心已停止接收作业；gamma/core：计算中心已失联')
  expect(translateZh('waits for a unit of alpha/core, free in about 10 min: runs 2 s there, 4 s on beta/core, which is free'))
    .toBe('正在等待：alpha/core 的一个单元，约 10 min 后空闲：在那里运行 2 s，在空闲的 beta/core 上则为 4 s')
  expect(translateZh('4 units: the most that the job takes; 4 units, all parts of a device: sharing: exclusive, so no other job computes on its devices'))
    .toBe('4 个单元：作业可接受的最多数量；4 个单元，即一个设备的所有部分：不与他人共享（sharing: exclusive），因此没有其他作业在其设备上计算')
})

it('why members of gangs wait is told in Chinese', () => {
  expect(translateZh('waits for 3 more members of gang g1; 1 of it cancelled; 2 of it ended')).toBe('正在等待成组作业 g1 的另外 3 个成员；其中 1 个已取消；其中 2 个已结束')
  expect(translateZh('waits until all 4 members of gang g can start together; alone it waits for a unit of alpha/core, free in about 10 min'))
    .toBe('等待成组作业 g 的全部 4 个成员能一起开始；单独而言：正在等待：alpha/core 的一个单元，约 10 min 后空闲')
})

it('how a divided job goes on and ends is told in Chinese', () => {
  expect(translateZh('part 1 of 2 (step read, on CPU) has succeeded at center alpha; now part 2 of 2 (steps pack, solve, on GPU)'))
    .toBe('第 1/2 部分（步骤 read，CPU）已在计算中心 alpha 成功；现在是第 2/2 部分（步骤 pack, solve，GPU）')
  expect(translateZh('part 2 of 2 (steps pack, solve, on GPU): exit code 3')).toBe('第 2/2 部分（步骤 pack, solve，GPU）：退出码 3')
  expect(translateZh('part 1 of 2 (step read, on CPU): stopped at its wall-time limit of 1 s')).toBe('第 1/2 部分（步骤 read，CPU）：达到 1 s 的时间上限而停止')
})

it('why there are no probes, and where coefficients are from, is told in Chinese', () => {
  expect(translateZh('center alpha takes no probes: its probe share is 0; `fathom center set alpha --probe-share 0.0020` gives it room'))
    .toBe('计算中心 alpha 不接受探针：其探针份额为 0；`fathom center set alpha --probe-share 0.0020` 可为其留出余量')
  expect(translateZh('PCIe 3.0 x16 class: alpha does not report it')).toBe('PCIe 3.0 x16 级别：alpha 没有报告')
  expect(translateZh('minute "61": must be 0 to 59')).toBe('分 "61"：必须为 0 到 59')
})

it('what the loop at a unit did is told in Chinese', () => {
  expect(translateZh('transfer-bound by 0.500: the output -0.700 asks for +2 sub-units, -100 MHz, precision down 1 step, as far as there is room and balance needs'))
    .toBe('受限于传输，差 0.500：输出 -0.700 要求 +2 个子单元，-100 MHz，精度降低 1 级，以有余地且均衡所需为限')
  expect(translateZh('no sample: the load is 1.3, more than the stated rate allows')).toBe('没有采样：负载率为 1.3，超过所述速率允许的范围')
  expect(translateZh('sub_units: absent: the unit is not cut into sub-units')).toBe('子单元：没有：该单元没有划分为子单元')
})

it('what is longer than any sentence is left as it is', () => {
  expect(translateZh(`exit code ${'7'.repeat(100)}`)).toBe(`退出码 ${'7'.repeat(100)}`)
  expect(translateZh(`exit code ${'7'.repeat(5000)}`)).toBeNull()
})

it('a sentence that is not known, or has a part that is not, is not translated', () => {
  expect(translateZh('the moon is in the way')).toBeNull()
  expect(translateZh('earliest expected completion: by magic')).toBeNull()
})
