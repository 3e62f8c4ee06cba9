/** The files in `.github` are what GitHub accepts, as far as they name things of this repository or each other. */
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../', import.meta.url));

const Step = z.union([
  z.strictObject({
    name: z.string().optional(),
    uses: z.string().regex(/^[\w-]+\/[\w-]+@v\d+$/),
    with: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ name: z.string(), run: z.string() }),
]);

const Workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: z.record(z.string(), z.enum(['none', 'read'])),
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.boolean() }),
  jobs: z.record(
    z.string(),
    z.strictObject({ 'runs-on': z.string(), 'timeout-minutes': z.int().positive(), steps: z.array(Step) }),
  ),
});

const Form = z.strictObject({
  name: z.string(),
  description: z.string(),
  labels: z.array(z.string()),
  body: z.array(
    z.union([
      z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: z.string() }) }),
      z.strictObject({
        type: z.enum(['textarea', 'input', 'dropdown', 'checkboxes']),
        id: z.string().regex(/^[\w-]+$/),
        attributes: z.strictObject({
          label: z.string(),
          description: z.string().optional(),
          render: z.string().optional(),
          options: z.array(z.union([z.string(), z.strictObject({ label: z.string() })])).optional(),
        }),
        validations: z.strictObject({ required: z.boolean() }).optional(),
      }),
    ]),
  ),
});

function read(path: string): unknown {
  return parse(readFileSync(root + path, 'utf8'));
}

test('the workflow runs .ci/run, on the Node that package.json names', () => {
  const { jobs } = Workflow.parse(read('.github/workflows/ci.yml'));
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const { run } = steps.flatMap((step) => ('run' in step ? [step] : [])).at(-1) ?? {};
  expect(run).toBe('.ci/run');
  accessSync(`${root}.ci/run`, constants.X_OK);
  const settings = steps.flatMap((step) => ('uses' in step && step.uses.includes('setup-node') ? [step.with] : []));
  expect(settings).toEqual([{ 'node-version-file': 'package.json', cache: 'npm' }]);
  expect(JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node).toMatch(/^>=\d+$/);
});

const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).filter((path) => !path.endsWith('config.yml'));

test('there is a form for bugs and one for features, and a template for pull requests', () => {
  expect(forms.sort()).toEqual(['.github/ISSUE_TEMPLATE/bug.yml', '.github/ISSUE_TEMPLATE/feature.yml']);
  expect(read('.github/ISSUE_TEMPLATE/config.yml')).toEqual({ blank_issues_enabled: false });
  expect(existsSync(`${root}.github/pull_request_template.md`)).toBe(true);
});

test.each(forms)('%s is a form whose fields have names of their own', (path) => {
  const { body } = Form.parse(read(path));
  const fields = body.flatMap((field) => ('id' in field ? [field] : []));
  expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  expect(fields.filter(({ type, attributes }) => type === 'dropdown' && attributes.options === undefined)).toEqual([]);
});
