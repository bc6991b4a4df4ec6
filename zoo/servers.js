// The servers. All of them start without a network; those that look up credentials get invalid ones.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder, programOf } from './install.js'

const box = join(folder, 'box')
const key = '0123456789abcdef0123456789abcdef01234567'
const nothing = 'http://127.0.0.1:1'

/** `[name, package, arguments, [tool to call, its arguments]]` */
const table = [
  [
    'everything',
    '@modelcontextprotocol/server-everything@2026.8.31',
    [],
    ['echo', { message: 'hi' }],
  ],
  ['memory', '@modelcontextprotocol/server-memory@2026.8.31', [], ['read_graph']],
  [
    'filesystem',
    '@modelcontextprotocol/server-filesystem@2026.8.31',
    [box],
    ['list_directory', { path: box }],
  ],
  [
    'thinking',
    '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    [],
    [
      'sequentialthinking',
      { thought: 'a', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    ],
  ],
  [
    'github',
    '@modelcontextprotocol/server-github@2025.4.8',
    [],
    ['search_repositories', { query: 'mcp' }],
  ],
  [
    'gitlab',
    '@modelcontextprotocol/server-gitlab@2025.4.25',
    [],
    ['search_repositories', { search: 'mcp' }],
  ],
  ['slack', '@modelcontextprotocol/server-slack@2025.4.25', [], ['slack_list_channels']],
  [
    'postgres',
    '@modelcontextprotocol/server-postgres@0.6.2',
    ['postgresql://127.0.0.1:1/x'],
    ['query', { sql: 'select 1' }],
  ],
  [
    'puppeteer',
    '@modelcontextprotocol/server-puppeteer@2025.5.12',
    [],
    ['puppeteer_navigate', { url: nothing }],
  ],
  [
    'brave-search',
    '@modelcontextprotocol/server-brave-search@0.6.2',
    [],
    ['brave_web_search', { query: 'mcp' }],
  ],
  [
    'google-maps',
    '@modelcontextprotocol/server-google-maps@0.6.2',
    [],
    ['maps_geocode', { address: 'Rome' }],
  ],
  [
    'everart',
    '@modelcontextprotocol/server-everart@0.6.2',
    [],
    ['generate_image', { prompt: 'a cat' }],
  ],
  [
    'aws-kb',
    '@modelcontextprotocol/server-aws-kb-retrieval@0.6.2',
    [],
    ['retrieve_from_aws_kb', {}],
  ],
  ['pdf', '@modelcontextprotocol/server-pdf@2.0.4', ['--stdio'], ['list_pdfs']],
  ['map', '@modelcontextprotocol/server-map@2.0.3', ['--stdio'], ['show-map']],
  ['debug', '@modelcontextprotocol/server-debug@2.0.3', ['--stdio'], ['debug-tool']],
  ['basic-react', '@modelcontextprotocol/server-basic-react@2.0.3', ['--stdio'], ['get-time']],
  [
    'budget',
    '@modelcontextprotocol/server-budget-allocator@2.0.3',
    ['--stdio'],
    ['get-budget-data'],
  ],
  [
    'scenario',
    '@modelcontextprotocol/server-scenario-modeler@2.0.3',
    ['--stdio'],
    ['get-scenario-data'],
  ],
  ['shadertoy', '@modelcontextprotocol/server-shadertoy@2.0.3', ['--stdio'], ['render-shadertoy']],
  [
    'system-monitor',
    '@modelcontextprotocol/server-system-monitor@2.0.3',
    ['--stdio'],
    ['get-system-info'],
  ],
  ['threejs', '@modelcontextprotocol/server-threejs@2.0.3', ['--stdio'], ['learn_threejs']],
  [
    'wiki-explorer',
    '@modelcontextprotocol/server-wiki-explorer@2.0.3',
    ['--stdio'],
    ['get-first-degree-links'],
  ],
  ['heroui', '@heroui/react-mcp@1.1.2', [], ['list_components']],
  ['fetch', 'mcp-fetch-server@1.1.2', [], ['fetch_txt', { url: nothing }]],
  ['mui', '@mui/mcp@0.1.6', [], ['fetchDocs', { urls: [nothing] }]],
  ['nx', 'nx-mcp@0.25.0', ['.'], ['nx_docs', { userQuery: 'cache' }]],
  ['playwright', '@playwright/mcp@0.0.83', ['--headless'], ['browser_close']],
  ['terraform', 'terraform-mcp-server@0.13.0', [], ['policySearch', { query: 'aws' }]],
  [
    'jira',
    '@aashari/mcp-server-atlassian-jira@3.3.0',
    [],
    ['jira_get', { path: '/rest/api/3/myself' }],
  ],
  ['browser', '@agent-infra/mcp-server-browser@1.2.29', [], ['browser_tab_list']],
  [
    'commands',
    '@agent-infra/mcp-server-commands@1.2.18',
    [],
    ['run_command', { command: 'echo hi' }],
  ],
  [
    'files',
    '@agent-infra/mcp-server-filesystem@1.2.29',
    ['--allowed-directories', box],
    ['list_allowed_directories'],
  ],
  ['airtable', 'airtable-mcp-server@1.14.0', [], ['list_bases']],
  [
    'chart',
    '@antv/mcp-server-chart@0.9.10',
    [],
    ['generate_bar_chart', { data: [{ category: 'a', value: 1 }] }],
  ],
  ['azure', '@azure/mcp@2.0.5', ['server', 'start'], ['documentation', { intent: 'list' }]],
  ['browsermcp', '@browsermcp/mcp@0.1.3', [], ['browser_snapshot']],
  ['devtools', 'chrome-devtools-mcp@1.11.0', [], ['list_pages']],
  [
    'circleci',
    '@circleci/mcp-server-circleci@0.20.0',
    [],
    ['list_followed_projects', { params: {} }],
  ],
  ['git', '@cyanheads/git-mcp-server@2.15.3', [], ['git_log', {}]],
  ['weather', '@dangahagan/weather-mcp@1.23.0', [], ['check_service_status']],
  ['elasticsearch', '@elastic/mcp-server-elasticsearch@0.3.1', [], ['get_shards']],
  ['exa', 'exa-mcp-server@3.4.1', [], ['web_search_exa', { query: 'mcp' }]],
  ['playwright-ea', '@executeautomation/playwright-mcp-server@1.0.12', [], ['playwright_close']],
  ['figma', 'figma-developer-mcp@0.13.2', ['--stdio'], ['get_figma_data', { fileKey: 'abc' }]],
  ['firecrawl', 'firecrawl-mcp@3.26.0', [], ['firecrawl_map', { url: nothing }]],
  ['hubspot', '@hubspot/mcp-server@0.4.0', [], ['hubspot-get-user-details']],
  ['magicui', '@magicuidesign/mcp@2.0.0', [], ['listRegistryItems']],
  ['mantine', '@mantine/mcp-server@9.6.2', [], ['list_items']],
  ['hello', 'mcp-hello-world@1.1.2', [], ['echo', { message: 'hi' }]],
  [
    'mermaid',
    'mcp-mermaid@0.4.1',
    [],
    ['generate_mermaid_diagram', { mermaid: 'graph TD; A-->B', outputType: 'mermaid' }],
  ],
  [
    'code-runner',
    'mcp-server-code-runner@0.1.8',
    [],
    ['run-code', { code: 'console.log(1)', languageId: 'javascript' }],
  ],
  ['kubernetes', 'mcp-server-kubernetes@4.1.7', [], ['cleanup']],
  ['shrimp', 'mcp-shrimp-task-manager@1.0.21', [], ['list_tasks', { status: 'all' }]],
  ['mobile', '@mobilenext/mobile-mcp@1.0.4', [], ['mobile_list_apps', {}]],
  ['mongodb', 'mongodb-mcp-server@3.0.4', [], ['list-databases', {}]],
  [
    'excel',
    '@negokaz/excel-mcp-server@0.12.0',
    [],
    ['excel_describe_sheets', { fileAbsolutePath: join(box, 'none.xlsx') }],
  ],
  ['netlify', '@netlify/mcp@1.15.1', [], ['netlify-coding-rules', { creationType: 'serverless' }]],
  ['notion', '@notionhq/notion-mcp-server@2.5.2', [], ['API-get-self']],
  ['airbnb', '@openbnb/mcp-server-airbnb@0.3.0', [], ['airbnb_search', { location: 'Rome' }]],
  ['perplexity', '@perplexity-ai/mcp-server@1.2.1', [], ['perplexity_search', { query: 'mcp' }]],
  ['sentry', '@sentry/mcp-server@0.39.0', [], ['find_organizations']],
  ['shadcn', 'shadcn@4.23.0', ['mcp'], ['get_audit_checklist']],
  ['shopify', '@shopify/dev-mcp@1.16.0', [], ['learn_shopify_api', { api: 'admin' }]],
  [
    'pdf-reader',
    '@sylphlab/pdf-reader-mcp@0.3.23',
    [],
    ['read_pdf', { sources: [{ path: 'none.pdf' }] }],
  ],
  ['linear', '@tacticlaunch/mcp-linear@1.4.3', [], ['linear_getViewer']],
  ['task-master', 'task-master-ai@0.43.1', [], ['get_tasks', { projectRoot: box }]],
  ['tavily', 'tavily-mcp@0.2.22', [], ['tavily_search', { query: 'mcp' }]],
  ['time', 'time-mcp@1.0.6', [], ['current_time', { format: 'YYYY-MM-DD' }]],
  [
    'context7',
    '@upstash/context7-mcp@4.1.1',
    [],
    ['resolve-library-id', { query: 'react', libraryName: 'react' }],
  ],
  ['gitlab-z', '@zereight/mcp-gitlab@2.1.64', [], ['list_projects', {}]],
]

/** The programs of packages that have several. */
const programs = {
  azure: 'azmcp',
}

export const servers = table.map(([name, specifier, args, call]) => ({
  name,
  packages: [specifier],
  args,
  call,
  program: programs[name],
}))

/** What the servers find in their environment: credentials that nobody accepts, and folders. */
const variables = {
  memory: { MEMORY_FILE_PATH: join(box, 'memory.jsonl') },
  github: { GITHUB_PERSONAL_ACCESS_TOKEN: key },
  gitlab: { GITLAB_PERSONAL_ACCESS_TOKEN: key, GITLAB_API_URL: nothing },
  'gitlab-z': { GITLAB_PERSONAL_ACCESS_TOKEN: key, GITLAB_API_URL: nothing },
  slack: { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_TEAM_ID: 'T1' },
  'brave-search': { BRAVE_API_KEY: key },
  'google-maps': { GOOGLE_MAPS_API_KEY: key },
  everart: { EVERART_API_KEY: key },
  'aws-kb': { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
  notion: { NOTION_TOKEN: `ntn_${key}` },
  tavily: { TAVILY_API_KEY: `tvly-${key}` },
  exa: { EXA_API_KEY: key },
  firecrawl: { FIRECRAWL_API_KEY: `fc-${key}` },
  perplexity: { PERPLEXITY_API_KEY: key },
  airtable: { AIRTABLE_API_KEY: `pat.${key}` },
  linear: { LINEAR_API_TOKEN: key },
  figma: { FIGMA_API_KEY: key },
  circleci: { CIRCLECI_TOKEN: key },
  sentry: { SENTRY_ACCESS_TOKEN: key },
  elasticsearch: { ES_URL: nothing, ES_API_KEY: key },
  hubspot: { PRIVATE_APP_ACCESS_TOKEN: key },
  jira: { ATLASSIAN_API_TOKEN: key },
  shrimp: { DATA_DIR: join(folder, 'data') },
}

const home = join(folder, 'home')

/** The environment that every program of a run starts with. */
export const environment = { PATH: process.env.PATH, HOME: home }

/** Returns the commands that start the servers, in an empty folder with an empty home. */
export function commandsOf(chosen) {
  for (const path of [box, home]) mkdirSync(path, { recursive: true })
  writeFileSync(join(box, 'hello.txt'), 'hello\n')
  return chosen.map(server => ({
    name: server.name,
    command: process.execPath,
    args: [programOf('servers', server), ...server.args],
    cwd: box,
    env: { CI: '1', DO_NOT_TRACK: '1', NO_UPDATE_NOTIFIER: '1', ...variables[server.name] },
  }))
}
