import fc from 'fast-check'

/**
 * Property tests generate the same values in every run, so that a run that passes on one machine passes on all.
 * `TEST_SEED=random` chooses others, and a number those of an earlier run.
 */
const { TEST_SEED = '1' } = process.env
fc.configureGlobal(TEST_SEED === 'random' ? {} : { seed: Number(TEST_SEED) })
