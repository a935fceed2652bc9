/* SPDX-License-Identifier: BSD-2-Clause */
#include "top.h"
#include "value.h"

#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_MS 1000

static const char *const sorts[TOP_SORTS] = {"name", "pps", "flows"};

struct screen {
	struct cli *cli;
	struct top_sample before, now;
	struct top_lines lines;
	enum top_sort sort;
	size_t first; /* line below the head that stands first */
	int rows, columns;
	bool paused;
	char message[160]; /* why there is nothing new */
};

static double clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static unsigned long long interval_ms(const struct cli *cli)
{
	return cli->interval_ms ? cli->interval_ms : INTERVAL_MS;
}

/* Text */

static void pause_ms(unsigned long long ms)
{
	struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	nanosleep(&time, NULL);
}

static int once_print(const struct cli *cli, const json_t *rates)
{
	struct top_lines lines = {0};

	if (cli->json)
		return cli_print_json(rates);
	if (!top_lines_make(&lines, rates)) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < lines.count; i++)
		puts(lines.list[i].text);
	top_lines_free(&lines);
	return CLI_DONE;
}

/* The first of the two requests says what is wrong, if anything is. */
static int once(struct cli *cli)
{
	struct top_sample before = {0}, now = {0};
	json_t *status = NULL, *rates;
	int ret = cli_get(cli, "/v1/status", &status);

	json_decref(status);
	if (ret)
		return ret;
	ret = top_sample_take(cli, &before);
	if (!ret) {
		pause_ms(interval_ms(cli));
		ret = top_sample_take(cli, &now);
	}
	if (!ret) {
		rates = top_rates(&before, &now, TOP_BY_NAME);
		ret = once_print(cli, rates);
		json_decref(rates);
	}
	top_sample_free(&before);
	top_sample_free(&now);
	return ret;
}

/* A terminal */

static void styles_start(bool color)
{
	if (!color || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(TOP_BAD, COLOR_RED, -1);
	init_pair(TOP_WARN, COLOR_YELLOW, -1);
}

static chtype style_of(enum top_style style)
{
	switch (style) {
	case TOP_TITLE:
		return A_BOLD;
	case TOP_BAD:
		return A_BOLD | COLOR_PAIR(TOP_BAD);
	case TOP_WARN:
		return (chtype)COLOR_PAIR(TOP_WARN);
	case TOP_DIM:
		return A_DIM;
	default:
		return A_NORMAL;
	}
}

static void line_draw(const struct screen *screen, int row, const struct top_line *line)
{
	attrset((int)style_of(line->style));
	mvaddnstr(row, 0, line->text, screen->columns);
	attrset(A_NORMAL);
}

/* Rows between the head and the last one, which tells the keys. */
static size_t body_rows(const struct screen *screen)
{
	int rows = screen->rows - (int)screen->lines.head - 1;

	return rows > 0 ? (size_t)rows : 0;
}

static size_t last_first(const struct screen *screen)
{
	size_t body = screen->lines.count - screen->lines.head, rows = body_rows(screen);

	return body > rows ? body - rows : 0;
}

static void draw(struct screen *screen)
{
	const struct top_lines *lines = &screen->lines;
	size_t rows;

	getmaxyx(stdscr, screen->rows, screen->columns);
	erase();
	rows = body_rows(screen);
	if (screen->first > last_first(screen))
		screen->first = last_first(screen);
	for (size_t i = 0; i < lines->head; i++)
		line_draw(screen, (int)i, &lines->list[i]);
	for (size_t i = 0; i < rows && lines->head + screen->first + i < lines->count; i++)
		line_draw(screen, (int)(lines->head + i),
			&lines->list[lines->head + screen->first + i]);
	attrset(A_REVERSE);
	if (screen->message[0])
		mvaddnstr(screen->rows - 1, 0, screen->message, screen->columns);
	else
		mvprintw(screen->rows - 1, 0, "%.*s", screen->columns,
			screen->paused ? "paused: p goes on, q quits"
				       : "q quit  arrows scroll  Tab next part  s sort  p pause");
	attrset(A_NORMAL);
	if (!screen->message[0] && screen->columns > 72)
		mvprintw(screen->rows - 1, screen->columns - 14, "by %s", sorts[screen->sort]);
	refresh();
}

static void lines_make(struct screen *screen)
{
	json_t *rates = top_rates(&screen->before, &screen->now, screen->sort);

	top_lines_make(&screen->lines, rates);
	json_decref(rates);
}

/* A daemon that is away for a moment (a restart) is said, and asked again. */
static void sample(struct screen *screen)
{
	struct top_sample next;

	if (top_sample_take(screen->cli, &next)) {
		snprintf(screen->message, sizeof(screen->message),
			"no answer from guideway-control at %.100s; q quits", screen->cli->socket);
		top_sample_free(&next);
		return;
	}
	screen->message[0] = 0;
	top_sample_free(&screen->before);
	screen->before = screen->now;
	screen->now = next;
	if (!screen->before.status)
		return;
	lines_make(screen);
}

static size_t next_section(const struct screen *screen)
{
	const struct top_lines *lines = &screen->lines;

	for (size_t i = lines->head + screen->first + 1; i < lines->count; i++)
		if (lines->list[i].section && i - lines->head <= last_first(screen))
			return i - lines->head;
	return screen->first == last_first(screen) ? 0 : last_first(screen);
}

static void scroll_by(struct screen *screen, long rows)
{
	long first = (long)screen->first + rows;

	screen->first = first < 0 ? 0 : (size_t)first;
}

/* False to end. */
static bool key_take(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
	case 27:
		return false;
	case KEY_UP:
	case 'k':
		scroll_by(screen, -1);
		break;
	case KEY_DOWN:
	case 'j':
		scroll_by(screen, 1);
		break;
	case KEY_PPAGE:
		scroll_by(screen, -(long)body_rows(screen));
		break;
	case KEY_NPAGE:
	case ' ':
		scroll_by(screen, (long)body_rows(screen));
		break;
	case KEY_HOME:
	case 'g':
		screen->first = 0;
		break;
	case KEY_END:
	case 'G':
		screen->first = screen->lines.count;
		break;
	case '\t':
		screen->first = next_section(screen);
		break;
	case 'p':
		screen->paused = !screen->paused;
		break;
	case 's':
		screen->sort = (screen->sort + 1) % TOP_SORTS;
		if (screen->before.status)
			lines_make(screen);
		break;
	}
	return true;
}

static void run(struct screen *screen)
{
	double next = clock_now();
	bool running = true;

	while (running) {
		double left = next - clock_now();

		if (left <= 0) {
			if (!screen->paused)
				sample(screen);
			next = clock_now() + (double)interval_ms(screen->cli) / 1000;
			draw(screen);
			continue;
		}
		timeout((int)(left * 1000) + 1);
		int key = getch();

		if (key == ERR)
			continue;
		running = key_take(screen, key);
		draw(screen);
	}
}

static int terminal_run(struct cli *cli)
{
	struct screen screen = {.cli = cli};
	json_t *status = NULL;
	SCREEN *terminal;
	int ret = cli_get(cli, "/v1/status", &status);

	json_decref(status);
	if (ret)
		return ret;
	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		cli_error("this terminal ($TERM is \"%s\") cannot be drawn on; use --once",
			getenv("TERM") ? getenv("TERM") : "");
		return CLI_FAILED;
	}
	cli->quiet = true;
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	styles_start(cli->color);
	sample(&screen);
	if (!screen.message[0])
		pause_ms(200); /* the first rates soon, the others at their interval */
	run(&screen);
	endwin();
	delscreen(terminal);
	top_sample_free(&screen.before);
	top_sample_free(&screen.now);
	top_lines_free(&screen.lines);
	return CLI_DONE;
}

int cmd_top(struct cli *cli, int count, char **words)
{
	if (cli->once || cli->json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return once(cli);
	return terminal_run(cli);
}
