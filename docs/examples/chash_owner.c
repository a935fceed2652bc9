/* SPDX-License-Identifier: BSD-2-Clause */
/* cc chash_owner.c $(pkg-config --cflags --libs guideway-chash); ./a.out KEY... */
#include <guideway/chash.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	static const char *const ids[] = {"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"};
	struct gw_chash_options options;
	struct gw_chash_view *view;
	struct gw_chash *set;
	int error;

	gw_chash_options_init(&options, GW_CHASH_MAGLEV);
	error = gw_chash_create(&options, &set);
	for (int i = 0; i < 3 && !error; i++)
		error = gw_chash_add_node(set, ids[i], 1, NULL);
	if (error) {
		fprintf(stderr, "chash_owner: %s\n", gw_chash_strerror(error));
		return 1;
	}
	view = gw_chash_snapshot(set);
	for (int i = 1; i < argc; i++) {
		uint32_t owner;

		if (!gw_chash_get_node(view, argv[i], strlen(argv[i]), &owner))
			printf("%s %s\n", argv[i], gw_chash_view_members(view)[owner].id);
	}
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}
